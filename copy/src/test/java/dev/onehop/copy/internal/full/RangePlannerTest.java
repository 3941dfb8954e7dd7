package dev.onehop.copy.internal.full;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onehop.copy.internal.cluster.ClusterEnd;
import dev.onehop.copy.internal.cluster.ScriptedReplicaSet;
import dev.onehop.copy.internal.structure.CollectionSpec;
import java.util.List;
import org.bson.BsonDocument;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

/** The ranges of the collections of a replica set. */
class RangePlannerTest {
  @AutoClose private final ScriptedReplicaSet server = new ScriptedReplicaSet();
  @AutoClose private final ClusterEnd source = server.connect("source");

  private void answer(String size, String... sample) {
    server.script(
        command -> {
          if (!command.getFirstKey().equals("aggregate")) {
            return null;
          }
          return command.getArray("pipeline").get(0).asDocument().containsKey("$collStats")
              ? ScriptedReplicaSet.cursor(size)
              : ScriptedReplicaSet.cursor(sample);
        });
  }

  private RangePlanner.Planned plan(String options) throws InterruptedException {
    CopiedCollection collection =
        new CopiedCollection(
            0,
            new CollectionSpec(
                "d.c",
                "d.c",
                CollectionSpec.Kind.COLLECTION,
                null,
                BsonDocument.parse(options),
                List.of(),
                null),
            BsonDocument.parse("{_id: 1}"),
            null,
            0,
            null);
    return new RangePlanner(source, 1_000, null).plan(collection);
  }

  private static List<String> bounds(RangePlanner.Planned planned) {
    return planned.ranges().stream()
        .map(range -> range.min().toJson() + range.max().toJson())
        .map(text -> text.replaceAll("[^0-9KM]+", " ").strip())
        .toList();
  }

  @Test
  void rangesHaveNoGapsAndSimilarSizes() throws InterruptedException {
    answer("{count: 40, size: 4000}", "{_id: 10}", "{_id: 20}", "{_id: 30}", "{_id: 40}");
    RangePlanner.Planned planned = plan("{}");
    assertThat(planned.ranges()).extracting(KeyRange::number).containsExactly(0, 1, 2, 3);
    assertThat(bounds(planned)).containsExactly("K 1 20", "20 30", "30 40", "40 K 1");
    assertThat(planned.collection().documents()).isEqualTo(40);
    assertThat(planned.collection().index()).isEqualTo(BsonDocument.parse("{key: {_id: 1}}"));
  }

  @Test
  void smallCollectionHasOneRange() throws InterruptedException {
    answer("{count: 4, size: 400}");
    assertThat(bounds(plan("{}"))).containsExactly("K 1 K 1");
  }

  @Test
  void cappedCollectionHasOneRangeWithoutIndex() throws InterruptedException {
    answer("{count: 4000, size: 400000}", "{_id: 1}", "{_id: 2}", "{_id: 3}");
    RangePlanner.Planned planned = plan("{capped: true, size: 400000}");
    assertThat(planned.ranges()).hasSize(1);
    assertThat(planned.collection().index()).isNull();
  }

  /** A random sample may contain the same document several times. Even then, no range is empty. */
  @Test
  void duplicateSampleMakesNoEmptyRange() throws InterruptedException {
    answer("{count: 40, size: 4000}", "{_id: 7}", "{_id: 7}", "{_id: 7}", "{_id: 7}");
    assertThat(plan("{}").ranges())
        .allSatisfy(range -> assertThat(range.min()).isNotEqualTo(range.max()));
  }
}
