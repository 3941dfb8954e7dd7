package dev.onehop.shards.catalog;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.bson.BsonDocument;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;

class ChangeHistoryTest {
  private final List<BsonDocument> entries = new ArrayList<>();
  private final ChangeHistory history =
      new ChangeHistory(
          find -> Flux.just(entries.stream().limit(find.getInt32("limit").getValue()).toList()));

  @Test
  void ignoresChangesBeforeFirstRead() {
    add("moveChunk.commit", "d.c");

    assertThat(readChanges()).isEmpty();
    assertThat(readChanges()).isEmpty();
  }

  @Test
  void reportsMoveOnceForUsedCollections() {
    readChanges();
    add("moveChunk.commit", "d.c");
    add("moveChunk.commit", "d.other");

    assertThat(readChanges()).containsExactly("d.c");
    assertThat(readChanges()).isEmpty();
  }

  @Test
  void ignoresChangesWithoutMove() {
    readChanges();
    add("split", "d.c");
    add("moveChunk.start", "d.c");

    assertThat(readChanges()).isEmpty();
  }

  @Test
  void databaseChangeAffectsItsCollections() {
    readChanges();
    add("dropDatabase", "d");

    assertThat(readChanges()).containsExactlyInAnyOrder("d.c", "d.x");
  }

  @Test
  void tooManyChangesAffectAllCollections() {
    readChanges();
    for (int i = 0; i < 100; i++) {
      add("moveChunk.commit", "e.busy");
    }

    assertThat(readChanges()).containsExactlyInAnyOrder("d.c", "d.x");
    assertThat(readChanges()).isEmpty();
  }

  private Set<String> readChanges() {
    return history.changed(List.of("d.c", "d.x")).block();
  }

  private void add(String what, String namespace) {
    entries.add(
        0,
        BsonDocument.parse(
            "{_id: 'host-%d', what: '%s', ns: '%s'}".formatted(entries.size(), what, namespace)));
  }
}
