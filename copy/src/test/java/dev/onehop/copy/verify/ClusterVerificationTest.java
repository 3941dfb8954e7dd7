package dev.onehop.copy.verify;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onehop.copy.internal.cluster.ScriptedReplicaSet;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Two replica sets that have the collection {@code d.c} with 12 documents. */
class ClusterVerificationTest {
  private static final int DOCUMENTS = 12;

  /** The sample that divides the collection into ranges: they begin at 3, 6 and 9. */
  private static final String[] SAMPLE = {
    "{_id: 3, size: 20}", "{_id: 6, size: 20}", "{_id: 9, size: 20}"
  };

  private final Map<String, String> indexes = new TreeMap<>();
  private ScriptedReplicaSet source;
  private ScriptedReplicaSet destination;

  @BeforeEach
  void connect() {
    source = server("source");
    destination = server("destination");
  }

  private ScriptedReplicaSet server(String role) {
    ScriptedReplicaSet server = new ScriptedReplicaSet();
    indexes.put(role, "{v: 2, key: {_id: 1}, name: '_id_'}");
    server.script(command -> structure(role, command));
    return server;
  }

  private BsonDocument structure(String role, BsonDocument command) {
    return switch (command.getFirstKey()) {
      case "listDatabases" -> BsonDocument.parse("{ok: 1, databases: [{name: 'd'}]}");
      case "listCollections" ->
          ScriptedReplicaSet.cursor(
              "{name: 'c', type: 'collection', options: {}, info:"
                  + " {uuid: {$uuid: '00000000-0000-4000-8000-000000000001'}}}");
      case "listIndexes" -> ScriptedReplicaSet.cursor(indexes.get(role));
      case "count" -> BsonDocument.parse("{ok: 1, n: %d}".formatted(DOCUMENTS));
      case "aggregate" -> ScriptedReplicaSet.cursor(SAMPLE);
      default -> null;
    };
  }

  @AfterEach
  void close() {
    source.close();
    destination.close();
  }

  private static void store(ScriptedReplicaSet server, int... but) {
    for (int id = 0; id < DOCUMENTS; id++) {
      int each = id;
      if (Arrays.stream(but).noneMatch(left -> left == each)) {
        server.store("d.c", "{_id: %d, a: 1}".formatted(id));
      }
    }
  }

  private ClusterVerification.Builder verification() {
    return ClusterVerification.builder(source.url(), destination.url())
        .settle(Duration.ZERO)
        .parallel(1)
        .documentsPerRange(3);
  }

  @Test
  void reportsEqualCollections() throws InterruptedException {
    store(source);
    store(destination);
    VerifyReport report = verification().build().run();
    assertThat(report.isEqual()).isTrue();
    assertThat(report.compared()).isEqualTo(DOCUMENTS);
    assertThat(source.seen("find").stream().filter(find -> find.containsKey("hint")))
        .extracting(find -> find.get("min"))
        .containsExactlyInAnyOrder(
            null,
            BsonDocument.parse("{_id: 3}"),
            BsonDocument.parse("{_id: 6}"),
            BsonDocument.parse("{_id: 9}"));
  }

  @Test
  void reportsEachDifference() throws InterruptedException {
    store(source, 11);
    store(destination, 1, 7);
    destination.store("d.c", "{_id: 7, a: {$numberLong: '1'}}");
    VerifyReport report = verification().build().run();
    assertThat(report.isDifferent()).isTrue();
    assertThat(report.compared()).isEqualTo(DOCUMENTS);
    assertThat(report.missing()).isEqualTo(1);
    assertThat(report.extra()).isEqualTo(1);
    assertThat(report.different()).isEqualTo(1);
    assertThat(report.details())
        .containsExactlyInAnyOrder(
            new Difference("d.c", Difference.Kind.MISSING, BsonDocument.parse("{_id: 1}")),
            new Difference("d.c", Difference.Kind.DIFFERENT, BsonDocument.parse("{_id: 7}")),
            new Difference("d.c", Difference.Kind.EXTRA, BsonDocument.parse("{_id: 11}")));
  }

  /**
   * The destination was behind the source at the first read, but has all documents at the second
   * look.
   */
  @Test
  void documentPresentAtSecondLookIsEqual() throws InterruptedException {
    store(source);
    store(destination, 4);
    AtomicInteger looks = new AtomicInteger();
    destination.script(
        command -> {
          boolean second =
              command.getFirstKey().equals("find")
                  && command.getDocument("filter", new BsonDocument()).toJson().contains("$in");
          if (second && looks.getAndIncrement() == 0) {
            destination.store("d.c", "{_id: 4, a: 1}");
          }
          return structure("destination", command);
        });
    assertThat(verification().build().run().isEqual()).isTrue();
    assertThat(looks).hasPositiveValue();
  }

  @Test
  void reportsMissingIndex() throws InterruptedException {
    store(source);
    store(destination);
    indexes.merge("source", "{v: 2, key: {a: 1}, name: 'a_1'}", (one, other) -> one + ", " + other);
    VerifyReport report = verification().build().run();
    assertThat(report.isDifferent()).isTrue();
    assertThat(report.metadata()).hasSize(1);
    assertThat(report.metadata().get(0).what()).contains("a_1");
  }

  @Test
  void retriesWhileServerShutsDown() throws InterruptedException {
    store(source);
    store(destination);
    AtomicInteger finds = new AtomicInteger();
    source.script(
        command ->
            command.containsKey("hint") && finds.incrementAndGet() == 2
                ? BsonDocument.parse("{ok: 0, code: 11600, errmsg: 'is shut down'}")
                : structure("source", command));
    VerifyReport report = verification().build().run();
    assertThat(report.isEqual()).isTrue();
    assertThat(report.compared()).isEqualTo(DOCUMENTS);
  }

  /** A verification that was killed runs again with its state file. */
  @Test
  void resumedRunComparesOnlyUnfinishedRanges(@TempDir Path folder) throws InterruptedException {
    store(source);
    store(destination, 1);
    Path file = folder.resolve("state");
    source.script(
        command ->
            new BsonInt32(6).equals(command.getDocument("min", new BsonDocument()).get("_id"))
                ? BsonDocument.parse("{ok: 0, code: 13, errmsg: 'not any more'}")
                : structure("source", command));
    assertThatThrownBy(() -> verification().state(file).build().run())
        .hasMessageContaining("not any more");

    source.script(command -> structure("source", command));
    int before = source.seen("find").size();
    VerifyReport report = verification().state(file).build().run();
    assertThat(report.resumed()).isPositive();
    assertThat(report.compared()).isEqualTo(DOCUMENTS);
    assertThat(report.missing()).isEqualTo(1);
    assertThat(report.details())
        .containsExactly(
            new Difference("d.c", Difference.Kind.MISSING, BsonDocument.parse("{_id: 1}")));
    List<BsonDocument> again =
        source.seen("find").stream().skip(before).filter(find -> find.containsKey("hint")).toList();
    assertThat(again)
        .extracting(find -> find.get("min"))
        .contains(BsonDocument.parse("{_id: 6}"))
        .doesNotContain(BsonDocument.parse("{_id: 9}"));
  }

  /**
   * The first run is interrupted as soon as it reads the second range. The last line of the state
   * file is incomplete, as after a kill.
   */
  @Test
  void resumesInterruptedRun(@TempDir Path folder) throws Exception {
    store(source);
    store(destination, 1);
    Path file = folder.resolve("state");
    for (int ended = 1; ended <= 2; ended++) {
      Thread running = Thread.currentThread();
      AtomicInteger finds = new AtomicInteger();
      source.script(
          command -> {
            if (command.containsKey("hint") && finds.incrementAndGet() == 2) {
              running.interrupt();
            }
            return structure("source", command);
          });
      assertThatThrownBy(() -> verification().state(file).build().run())
          .isInstanceOf(InterruptedException.class);
      Files.writeString(file, "{\"collection\": \"d.", StandardOpenOption.APPEND);
    }
    source.script(command -> structure("source", command));
    VerifyReport report = verification().state(file).build().run();
    assertThat(report.resumed()).isEqualTo(2);
    assertThat(report.compared()).isEqualTo(DOCUMENTS);
    assertThat(report.details())
        .containsExactly(
            new Difference("d.c", Difference.Kind.MISSING, BsonDocument.parse("{_id: 1}")));
    assertThatThrownBy(() -> verification().state(file).build().run())
        .hasMessageContaining("finished");
    Files.delete(file);
    assertThat(verification().state(file).build().run().resumed()).isZero();
    assertThatThrownBy(() -> verification().include(List.of("d.other")).state(file).build().run())
        .hasMessageContaining("other clusters or collections");
  }

  /** A server may refuse a random sample. The verification must still succeed. */
  @Test
  void succeedsWithoutRandomSample() throws InterruptedException {
    store(source);
    store(destination);
    AtomicInteger refused = new AtomicInteger();
    for (Map.Entry<String, ScriptedReplicaSet> each :
        Map.of("source", source, "destination", destination).entrySet()) {
      each.getValue()
          .script(
              command -> {
                if (command.toJson().contains("\"$sample\"")) {
                  refused.incrementAndGet();
                  return BsonDocument.parse("{ok: 0, code: 28799, errmsg: 'a random cursor'}");
                }
                return structure(each.getKey(), command);
              });
    }
    assertThat(verification().build().run().isEqual()).isTrue();
    assertThat(refused).hasPositiveValue();
  }

  @Test
  void rejectsSelectionWithoutCollection() {
    assertThatThrownBy(() -> verification().include(List.of("none")).build().run())
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("the selection includes no collection");
  }

  @Test
  void rejectsShardOfCluster() {
    destination.store("admin.system.version", "{_id: 'shardIdentity', shardName: 'one'}");
    assertThatThrownBy(() -> verification().build().run())
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("destination's URL names a shard of a cluster");
  }

  @Test
  void rejectsComparisonOfClusterWithItself() {
    assertThatThrownBy(() -> ClusterVerification.builder(source.url(), source.url()).build().run())
        .isInstanceOf(IllegalArgumentException.class);
  }
}
