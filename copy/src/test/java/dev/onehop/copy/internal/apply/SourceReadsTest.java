package dev.onehop.copy.internal.apply;

import static org.assertj.core.api.Assertions.assertThat;

import com.mongodb.MongoNamespace;
import com.mongodb.reactivestreams.client.MongoClient;
import com.mongodb.reactivestreams.client.MongoClients;
import dev.onehop.copy.internal.cluster.ScriptedReplicaSet;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.bson.BsonBinary;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonTimestamp;
import org.bson.BsonValue;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Reads of the source's documents at a known cluster time. */
class SourceReadsTest {
  private static final Duration TIMEOUT = Duration.ofSeconds(20);
  private static final BsonBinary UUID =
      new BsonBinary(java.util.UUID.fromString("00000000-0000-4000-8000-000000000001"));
  private static final List<BsonValue> IDS = List.of(new BsonInt32(1), new BsonInt32(2));

  private ScriptedReplicaSet server;
  private MongoClient client;
  private SourceReads source;

  @BeforeEach
  void connect() {
    server = new ScriptedReplicaSet();
    client = MongoClients.create(server.url());
    source = new SourceReads(client);
    server.store("d.c", "{_id: 1, a: 1}", "{_id: 2, a: 2}", "{_id: 3, a: 3}");
    answer(command -> null);
  }

  @AfterEach
  void close() {
    client.close();
    server.close();
  }

  /**
   * Makes the server reply with its cluster time and with an existing collection, if the test's own
   * script has no reply.
   */
  private void answer(ScriptedReplicaSet.Script first) {
    server.script(
        command -> {
          BsonDocument own = first.apply(command);
          if (own != null) {
            return own;
          }
          return switch (command.getFirstKey()) {
            case "listDatabases" ->
                BsonDocument.parse(
                    "{ok: 1, databases: [], operationTime: {$timestamp: {t: 8, i: 1}},"
                        + " $clusterTime: {clusterTime: {$timestamp: {t: 9, i: 2}}, signature:"
                        + " {hash: {$binary: {base64: '', subType: '00'}}, keyId: NumberLong(0)}}}");
            case "listCollections" -> ScriptedReplicaSet.cursor("{name: 'c'}");
            default -> null;
          };
        });
  }

  private SourceReads.Documents read() {
    return source.documents(new MongoNamespace("d.c"), UUID, IDS, null).block(TIMEOUT);
  }

  /** The documents that have the {@code _id} 1. */
  private static List<String> json(SourceReads.Documents read) {
    return read.of(Target.key(new BsonInt32(1))).stream().map(BsonDocument::toJson).toList();
  }

  private static BsonDocument refusal(int code, String message) {
    return BsonDocument.parse("{ok: 0, code: %d, errmsg: '%s'}".formatted(code, message));
  }

  @Test
  void readsSnapshot() {
    SourceReads.Documents read = read();
    assertThat(read.time()).isEqualTo(new BsonTimestamp(9, 2));
    assertThat(read.gone()).isFalse();
    assertThat(json(read)).containsExactly("{\"_id\": 1, \"a\": 1}");
    assertThat(read.byId()).hasSize(2);
    assertThat(server.seen("find").get(0).getDocument("readConcern"))
        .isEqualTo(
            BsonDocument.parse("{level: 'snapshot', atClusterTime: {$timestamp: {t: 9, i: 2}}}"));
  }

  @Test
  void readsCappedCollectionWithoutSnapshot() {
    answer(
        command ->
            command.getDocument("readConcern", new BsonDocument()).containsKey("atClusterTime")
                ? refusal(246, "no snapshot of capped collections")
                : null);
    assertThat(read().byId()).hasSize(2);
    assertThat(server.seen("find").get(1).getDocument("readConcern"))
        .isEqualTo(
            BsonDocument.parse(
                "{level: 'majority', afterClusterTime: {$timestamp: {t: 9, i: 2}}}"));
  }

  /**
   * A {@code getMore} may go to another mongos, which does not have the cursor. So each half is
   * read by its own find.
   */
  @Test
  void splitsReadThatExceedsReply() {
    AtomicInteger finds = new AtomicInteger();
    answer(
        command ->
            command.getFirstKey().equals("find") && finds.getAndIncrement() == 0
                ? BsonDocument.parse(
                    "{ok: 1, cursor: {id: NumberLong(5), ns: 'd.c', firstBatch: [{_id: 1}]}}")
                : null);
    assertThat(read().byId()).hasSize(2);
    assertThat(server.seen("killCursors")).hasSize(1);
    assertThat(server.seen("find")).hasSize(3);
  }

  @Test
  void findsRenamedCollectionByUuid() {
    server.store("d.new", "{_id: 1, a: 'new'}");
    answer(
        command ->
            command.getFirstKey().equals("listCollections")
                    && command.getDocument("filter").containsKey("info.uuid")
                ? ScriptedReplicaSet.cursor("{name: 'new'}")
                : null);
    assertThat(json(read())).containsExactly("{\"_id\": 1, \"a\": \"new\"}");
  }

  @Test
  void repeatsReadAfterConcurrentRename() {
    AtomicInteger lists = new AtomicInteger();
    answer(
        command ->
            command.getFirstKey().equals("listCollections") && lists.getAndIncrement() == 1
                ? ScriptedReplicaSet.cursor("{name: 'other'}")
                : null);
    assertThat(read().byId()).hasSize(2);
    assertThat(server.seen("find")).hasSize(2);
  }

  @Test
  void reportsDroppedCollection() {
    answer(
        command ->
            command.getFirstKey().equals("listCollections") ? ScriptedReplicaSet.cursor() : null);
    assertThat(read().gone()).isTrue();
    assertThat(server.seen("find")).isEmpty();
  }

  /**
   * The cluster time of a read may be older than the snapshots that a server keeps. Then the read
   * is repeated with a new time.
   */
  @Test
  void repeatsReadIfSnapshotIsTooOld() {
    AtomicInteger finds = new AtomicInteger();
    answer(
        command ->
            command.getFirstKey().equals("find") && finds.getAndIncrement() == 0
                ? refusal(239, "snapshot too old")
                : null);
    assertThat(read().byId()).hasSize(2);
    assertThat(server.seen("listDatabases")).hasSize(2);
  }
}
