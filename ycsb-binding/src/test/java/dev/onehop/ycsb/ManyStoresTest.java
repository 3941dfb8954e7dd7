package dev.onehop.ycsb;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class ManyStoresTest {
  private final List<InMemoryStore> opened = new ArrayList<>();

  private DocumentStore open() {
    if (opened.size() == 3) {
      throw new IllegalStateException("no more");
    }
    opened.add(new InMemoryStore());
    return opened.get(opened.size() - 1);
  }

  @Test
  void clientsAlternateAfterSomeOperations() {
    DocumentStore all = ManyStores.open(3, 2, this::open);
    for (int i = 0; i < 8; i++) {
      all.findOne("usertable", Documents.withKey("a"), null).block();
    }
    all.ping().block();
    all.close();

    assertThat(opened).extracting(store -> store.reads.get()).containsExactly(4, 2, 2);
    assertThat(opened).allMatch(store -> store.pings.get() == 1 && store.closes.get() == 1);
    assertThat(all.routes()).containsEntry("owner", 9L);
  }

  @Test
  void closesOpenStoresAfterFailure() {
    assertThatThrownBy(() -> ManyStores.open(4, 1, this::open)).hasMessage("no more");

    assertThat(opened).hasSize(3).allMatch(store -> store.closes.get() == 1);
  }
}
