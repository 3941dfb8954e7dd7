package dev.onehop.copy.internal.full;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onehop.copy.internal.Mapping;
import dev.onehop.copy.internal.cluster.ClusterEnd;
import dev.onehop.copy.internal.cluster.EndCheck;
import dev.onehop.copy.internal.cluster.ScriptedReplicaSet;
import dev.onehop.copy.internal.structure.CollectionSpec;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import org.bson.BsonBinary;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonMaxKey;
import org.bson.BsonMinKey;
import org.bson.BsonObjectId;
import org.bson.BsonTimestamp;
import org.bson.BsonValue;
import org.bson.RawBsonDocument;
import org.bson.types.ObjectId;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The documents that are read from a replica set, also after failures. */
class RangeReaderTest {
  private static final BsonBinary UUID_OF_C = new BsonBinary(new UUID(1, 2));
  private static final int DOCUMENTS = 10;

  private final List<Integer> taken = new ArrayList<>();
  private int begun;
  @AutoClose private final ScriptedReplicaSet server = new ScriptedReplicaSet();
  @AutoClose private final ClusterEnd source = server.connect("source");

  private final RangeReader.Sink sink =
      new RangeReader.Sink() {
        @Override
        public void begin() {
          begun++;
          taken.clear();
        }

        @Override
        public void take(List<RawBsonDocument> documents) {
          assertThat(documents).isNotEmpty();
          documents.forEach(
              document -> {
                assertThat(document.keySet()).containsExactly("_id", "n");
                taken.add(document.getInt32("_id").getValue());
              });
        }
      };

  @BeforeEach
  void connect() throws InterruptedException {
    for (int id = 0; id < DOCUMENTS; id++) {
      server.store("d.c", "{_id: %d, n: 1}".formatted(id));
    }
    EndCheck.forCopy(source);
  }

  private static CopiedCollection collection(String options) {
    return new CopiedCollection(
        0,
        new CollectionSpec(
            "d.c",
            "d.c",
            CollectionSpec.Kind.COLLECTION,
            UUID_OF_C,
            BsonDocument.parse(options),
            List.of(),
            null),
        BsonDocument.parse("{_id: 1}"),
        options.contains("capped") ? null : BsonDocument.parse("{key: {_id: 1}}"),
        DOCUMENTS,
        new BsonObjectId(new ObjectId()));
  }

  private static KeyRange range(BsonValue min, BsonValue max) {
    return new KeyRange(
        0, 0, ClusterEnd.ALONE, new BsonDocument("_id", min), new BsonDocument("_id", max), false);
  }

  private static KeyRange all() {
    return range(new BsonMinKey(), new BsonMaxKey());
  }

  private void read(CopiedCollection collection, KeyRange range) throws InterruptedException {
    new RangeReader(source, Mapping.ALL, new BsonTimestamp(7, 1), 3).read(collection, range, sink);
  }

  private void read(KeyRange range) throws InterruptedException {
    read(collection("{}"), range);
  }

  /**
   * Makes the server fail once.
   *
   * @param number which command of this name fails, from 1
   */
  private void failOnce(String command, int number, BsonDocument answer, Runnable meanwhile) {
    AtomicInteger sent = new AtomicInteger();
    server.script(
        received -> {
          if (!received.getFirstKey().equals(command) || sent.incrementAndGet() != number) {
            return null;
          }
          meanwhile.run();
          return answer;
        });
  }

  private static BsonDocument failure(int code) {
    return BsonDocument.parse("{ok: 0, code: %d, errmsg: 'scripted'}".formatted(code));
  }

  @Test
  void readsEachDocumentOfRangeOnceInOrder() throws InterruptedException {
    read(range(new BsonInt32(2), new BsonInt32(9)));
    assertThat(taken).containsExactly(2, 3, 4, 5, 6, 7, 8);
    BsonDocument find = server.seen("find").get(server.seen("find").size() - 1);
    assertThat(find.getDocument("min")).isEqualTo(BsonDocument.parse("{_id: 2}"));
    assertThat(find.getDocument("max")).isEqualTo(BsonDocument.parse("{_id: 9}"));
    assertThat(find.getDocument("readConcern"))
        .isEqualTo(
            BsonDocument.parse(
                "{level: 'majority', afterClusterTime: {$timestamp: {t: 7, i: 1}}}"));
    assertThat(find.get("collectionUUID")).isEqualTo(UUID_OF_C);
  }

  @Test
  void lastRangeIncludesMaxKey() throws InterruptedException {
    server.store("d.c", "{_id: {$maxKey: 1}, n: 1}");
    List<BsonDocument> finds = new ArrayList<>();
    new RangeReader(source, Mapping.ALL, new BsonTimestamp(7, 1), 3)
        .read(
            collection("{}"),
            range(new BsonInt32(8), new BsonMaxKey()),
            new RangeReader.Sink() {
              @Override
              public void begin() {}

              @Override
              public void take(List<RawBsonDocument> documents) {
                documents.forEach(document -> finds.add(BsonDocument.parse(document.toJson())));
              }
            });
    assertThat(finds)
        .contains(
            BsonDocument.parse("{_id: 8, n: 1}"),
            BsonDocument.parse("{_id: 9, n: 1}"),
            BsonDocument.parse("{_id: {$maxKey: 1}, n: 1}"));
  }

  @ParameterizedTest
  @ValueSource(ints = {91, 189, 11600, 43, 262})
  void resumesAtLastDocument(int code) throws InterruptedException {
    failOnce("getMore", 2, failure(code), () -> {});
    read(all());
    // The last document is read again, because other documents may have the same key.
    assertThat(taken).containsExactly(0, 1, 2, 3, 4, 5, 5, 6, 7, 8, 9);
  }

  @Test
  void resumesAfterLostConnection() throws InterruptedException {
    failOnce("getMore", 1, ScriptedReplicaSet.HANG_UP, () -> {});
    read(all());
    assertThat(taken).contains(0, 1, 2, 3, 4, 5, 6, 7, 8, 9);
  }

  /**
   * After an election, reading starts again. The new primary may have deleted documents of ranges
   * that have moved away, so the documents of the earlier primary do not count.
   */
  @Test
  void restartsAfterElection() throws InterruptedException {
    failOnce("getMore", 2, failure(189), server::elect);
    read(all());
    assertThat(taken).containsExactly(0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9);
  }

  @Test
  void restartsAfterElectionWithoutCursorError() throws InterruptedException {
    AtomicInteger sent = new AtomicInteger();
    server.script(
        command -> {
          if (command.getFirstKey().equals("getMore") && sent.incrementAndGet() == 3) {
            server.elect();
          }
          return null;
        });
    read(all());
    assertThat(taken.subList(DOCUMENTS, taken.size()))
        .as("all of it a second time")
        .containsExactly(0, 1, 2, 3, 4, 5, 6, 7, 8, 9);
  }

  @Test
  void readsRenamedCollection() throws InterruptedException {
    for (BsonDocument document : server.stored("d.c")) {
      server.store("d.new", document.toJson());
    }
    server.script(
        command ->
            command.containsKey("collectionUUID")
                    && command.getString("find").getValue().equals("c")
                ? failure(361).append("actualCollection", BsonDocument.parse("{n: 'new'}").get("n"))
                : null);
    read(all());
    assertThat(taken).containsExactly(0, 1, 2, 3, 4, 5, 6, 7, 8, 9);
    BsonDocument last = server.seen("find").get(server.seen("find").size() - 1);
    assertThat(last.getString("find").getValue()).isEqualTo("new");
    assertThat(last.get("collectionUUID")).isEqualTo(UUID_OF_C);
  }

  @Test
  void readsNothingFromDroppedCollection() throws InterruptedException {
    server.script(
        command -> command.containsKey("min") || command.containsKey("hint") ? failure(26) : null);
    read(all());
    assertThat(taken).isEmpty();
  }

  /**
   * Without the index of the ranges, the whole collection is read for each range, and some
   * documents are read twice.
   */
  @Test
  void readsWithoutDroppedIndex() throws InterruptedException {
    server.script(
        command ->
            command.containsKey("hint") && !command.getDocument("hint").containsKey("$natural")
                ? failure(2)
                : null);
    read(range(new BsonInt32(2), new BsonInt32(9)));
    assertThat(taken).contains(2, 3, 4, 5, 6, 7, 8);
  }

  @Test
  void serverAppliesFilter() throws InterruptedException {
    server.store("d.c", "{_id: 100, n: 2}");
    Mapping mapping =
        new Mapping(
            List.of(), List.of(), Map.of(), Map.of("d.c", BsonDocument.parse("{n: 2}")), null);
    new RangeReader(source, mapping, new BsonTimestamp(7, 1), 3)
        .read(collection("{}"), all(), sink);
    assertThat(taken).containsExactly(100);
  }

  @Test
  void readsCappedCollectionUpToItsInitialEnd() throws InterruptedException {
    server.store("d.c", "{_id: -1, n: 1}");
    AtomicInteger sent = new AtomicInteger();
    server.script(
        command -> {
          if (command.getFirstKey().equals("getMore") && sent.incrementAndGet() == 1) {
            server.store("d.c", "{_id: 50, n: 1}");
          }
          return null;
        });
    read(collection("{capped: true, size: 4096}"), all());
    assertThat(taken).containsExactly(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, -1);
    assertThat(begun).isEqualTo(1);
  }

  @Test
  void restartsCappedCollectionAfterFailure() throws InterruptedException {
    failOnce("getMore", 2, failure(189), () -> {});
    read(collection("{capped: true, size: 4096}"), all());
    assertThat(begun).isEqualTo(2);
    assertThat(taken).containsExactly(0, 1, 2, 3, 4, 5, 6, 7, 8, 9);
  }
}
