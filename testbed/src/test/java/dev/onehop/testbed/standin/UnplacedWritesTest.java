package dev.onehop.testbed.standin;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onehop.shards.command.ScriptedCluster;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonString;
import org.bson.BsonValue;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A statement gets an error if the router knows no shard for it. The other statements get none. */
class UnplacedWritesTest {
  private static final int WIRE_6_0 = 17;

  private final ScriptedCluster cluster =
      new ScriptedCluster(WIRE_6_0).routedBy(cluster -> new MongosRouter(cluster, false));

  @AfterEach
  void close() {
    cluster.close();
  }

  private List<BsonValue> inserted(String shard) {
    return cluster.seen(shard, "insert").stream()
        .flatMap(command -> command.getArray("documents").stream())
        .toList();
  }

  private static void isShardKeyError(BsonValue error, int index) {
    assertThat(error.asDocument()).containsEntry("index", new BsonInt32(index));
    assertThat(error.asDocument()).containsEntry("code", new BsonInt32(61));
    assertThat(error.asDocument().getString("errmsg").getValue()).isNotEmpty();
  }

  /**
   * The router adds an ObjectId as {@code _id}. It is greater than any number, so it belongs to s1.
   */
  @Test
  void routesDocumentByAddedId() {
    BsonDocument reply =
        cluster.execute("{insert: 'c', documents: [{x: 1}, {_id: -1}], $db: 'it'}");

    assertThat(reply).containsEntry("n", new BsonInt32(2)).doesNotContainKey("writeErrors");
    assertThat(inserted("s0")).containsExactly(BsonDocument.parse("{_id: -1}"));
    assertThat(inserted("s1"))
        .singleElement()
        .satisfies(
            document -> {
              assertThat(document.asDocument().keySet()).containsExactly("_id", "x");
              assertThat(document.asDocument().isObjectId("_id")).isTrue();
            });
  }

  /**
   * A server replaces this timestamp with its own time. The new key may belong to another shard.
   */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void rejectsKeyGeneratedByServer(boolean ordered) {
    BsonDocument reply =
        cluster.execute(
            """
            {insert: 'c', documents: [{_id: -1}, {_id: {$timestamp: {t: 0, i: 0}}}, {_id: 1}],
             ordered: %s, $db: 'it'}\
            """
                .formatted(ordered));

    assertThat(reply).containsEntry("n", new BsonInt32(ordered ? 1 : 2));
    assertThat(reply.getArray("writeErrors")).singleElement().satisfies(e -> isShardKeyError(e, 1));
    assertThat(Stream.of("s0", "s1").flatMap(shard -> inserted(shard).stream()))
        .noneMatch(document -> document.asDocument().isTimestamp("_id"));
  }

  @Test
  void insertedFieldsAreNotOptions() {
    BsonDocument reply =
        cluster.execute(
            """
            {insert: 'c', documents: [{multi: true, limit: 0, x: 1}, {upsert: true, x: 2},
              {multi: 7, upsert: 'x'}], $db: 'it'}\
            """);

    assertThat(reply).containsEntry("n", new BsonInt32(3)).doesNotContainKey("writeErrors");
    assertThat(inserted("s0")).isEmpty();
    assertThat(inserted("s1")).hasSize(3);
  }

  @ParameterizedTest
  @CsvSource({"true,1", "false,2"})
  void rejectsOnlyDocumentWithArrayInShardKey(boolean ordered, int n) {
    BsonDocument reply =
        cluster.execute(
            "{insert: 'c', documents: [{_id: 1}, {_id: [1]}, {_id: 2}], ordered: %s, $db: 'it'}"
                .formatted(ordered));

    assertThat(reply).containsEntry("n", new BsonInt32(n));
    assertThat(reply.getNumber("ok").intValue()).isEqualTo(1);
    assertThat(reply.getArray("writeErrors")).singleElement().satisfies(e -> isShardKeyError(e, 1));
    assertThat(inserted("s1")).hasSize(n);
  }

  @ParameterizedTest
  @CsvSource({"true,1", "false,2"})
  void rejectsOnlyUpsertWithoutShardKey(boolean ordered, int n) {
    BsonDocument reply =
        cluster.execute(
            """
            {update: 'c', ordered: %s, updates: [{q: {_id: 1}, u: {$set: {x: 1}}},
              {q: {x: 1}, u: {$set: {y: 1}}, upsert: true},
              {q: {_id: -1}, u: {$set: {x: 1}}}], $db: 'it'}\
            """
                .formatted(ordered));

    assertThat(reply).containsEntry("n", new BsonInt32(n));
    assertThat(reply.getNumber("ok").intValue()).isEqualTo(1);
    assertThat(reply.getArray("writeErrors")).singleElement().satisfies(e -> isShardKeyError(e, 1));
    assertThat(cluster.seen("s0", "update")).hasSize(n - 1);
  }

  /**
   * The router sends no command, so no shard can report that the table is stale. The router itself
   * must refresh the table.
   */
  @Test
  void refreshesTableBeforeError() {
    AtomicBoolean changed = new AtomicBoolean();
    cluster.script(
        "config",
        got -> {
          String collection = got.getString("find", new BsonString("")).getValue();
          return !changed.get() && List.of("collections", "chunks").contains(collection)
              ? ScriptedCluster.cursor(ScriptedCluster.formerMetadata(collection, "a"))
              : null;
        });
    String upsert =
        "{update: 'c', updates: [{q: {_id: 5}, u: {$set: {y: 1}}, upsert: true}], $db: 'it'}";
    assertThat(cluster.execute(upsert).getArray("writeErrors"))
        .singleElement()
        .satisfies(e -> isShardKeyError(e, 0));

    changed.set(true);
    BsonDocument reply = cluster.execute(upsert);

    assertThat(reply).containsEntry("n", new BsonInt32(1)).doesNotContainKey("writeErrors");
    assertThat(cluster.seen("s1", "update")).hasSize(1);
    assertThat(cluster.seen("s0", "update")).isEmpty();
  }
}
