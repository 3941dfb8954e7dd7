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
  void whatHappenedBeforeTheFirstLookIsNoNews() {
    add("moveChunk.commit", "d.c");

    assertThat(look()).isEmpty();
    assertThat(look()).isEmpty();
  }

  @Test
  void aMoveIsToldOnceAndOnlyOfCollectionsInUse() {
    look();
    add("moveChunk.commit", "d.c");
    add("moveChunk.commit", "d.other");

    assertThat(look()).containsExactly("d.c");
    assertThat(look()).isEmpty();
  }

  @Test
  void whatMovesNothingIsPassedOver() {
    look();
    add("split", "d.c");
    add("moveChunk.start", "d.c");

    assertThat(look()).isEmpty();
  }

  @Test
  void aDatabaseStandsForItsCollections() {
    look();
    add("dropDatabase", "d");

    assertThat(look()).containsExactlyInAnyOrder("d.c", "d.x");
  }

  @Test
  void moreThanCanBeReadConcernsAll() {
    look();
    for (int i = 0; i < 100; i++) {
      add("moveChunk.commit", "e.busy");
    }

    assertThat(look()).containsExactlyInAnyOrder("d.c", "d.x");
    assertThat(look()).isEmpty();
  }

  private Set<String> look() {
    return history.changed(List.of("d.c", "d.x")).block();
  }

  private void add(String what, String namespace) {
    entries.add(
        0,
        BsonDocument.parse(
            "{_id: 'host-%d', what: '%s', ns: '%s'}".formatted(entries.size(), what, namespace)));
  }
}
