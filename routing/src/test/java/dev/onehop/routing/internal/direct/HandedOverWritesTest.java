package dev.onehop.routing.internal.direct;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onehop.shards.command.ScriptedCluster;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.bson.BsonArray;
import org.bson.BsonDocument;
import org.bson.BsonDouble;
import org.bson.BsonInt32;
import org.bson.BsonString;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Shards execute the first statements of a write, and a mongos executes the rest. Each statement is
 * executed once.
 */
class HandedOverWritesTest {
  private static final int WIRE_6_0 = 17;
  private static final String SESSION =
      "lsid: {id: {$uuid: '00000000-0000-4000-8000-000000000009'}}, txnNumber: {$numberLong: '7'}";
  private static final String MOVES =
      """
      {ok: 0, code: 283, codeName: 'WouldChangeOwningShard', errmsg: 'as scripted',
       preImage: {_id: 1, n: 1}, postImage: {_id: -1, n: 1}, shouldUpsert: false}""";
  private static final String STALE =
      "{ok: 0, code: 13388, codeName: 'StaleConfig', errmsg: 'not known'}";

  /**
   * The former chunk of s1 after the move: s1 owns the ids from 0 to 2, and s0 the ids from 3 on.
   */
  private static final String SPLIT =
      """
      [{_id: 2, min: {_id: 0}, max: {_id: 3}, shard: 's1', lastmod: {$timestamp: {t: 2, i: 1}},
        uuid: {$uuid: '00000000-0000-4000-8000-000000000001'}},
       {_id: 3, min: {_id: 3}, max: {_id: {$maxKey: 1}}, shard: 's0',
        lastmod: {$timestamp: {t: 2, i: 0}},
        uuid: {$uuid: '00000000-0000-4000-8000-000000000001'}}]""";

  private final ScriptedCluster cluster = new ScriptedCluster(WIRE_6_0).routedBy(DirectRouter::new);
  private final AtomicInteger updates = new AtomicInteger();

  @BeforeEach
  void useMongos() {
    cluster.seed("m0");
  }

  @AfterEach
  void close() {
    cluster.close();
  }

  private static boolean isWrite(BsonDocument got) {
    return List.of("update", "findAndModify").contains(got.getFirstKey());
  }

  private void scriptWrites(String server, String reply) {
    cluster.script(server, got -> isWrite(got) ? BsonDocument.parse(reply) : null);
  }

  /** A range of s1 moves to s0. */
  private void moveRange() {
    moveRange("{ok: 1, n: 5, nModified: 4, writeErrors: [{index: 1, code: 121, errmsg: 'no'}]}");
  }

  private void moveRange(String ofMongos) {
    cluster.script("s1", got -> isWrite(got) ? BsonDocument.parse(STALE) : null);
    cluster.script(
        "m0",
        got ->
            new BsonString("chunks").equals(got.get("find"))
                ? ScriptedCluster.cursor(BsonArray.parse(SPLIT))
                : isWrite(got) ? BsonDocument.parse(ofMongos) : null);
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void mongosExecutesRestOfBatch(boolean ordered) {
    assertThat(cluster.execute("{find: 'c', filter: {_id: 5}, $db: 'it'}")).containsKey("cursor");
    moveRange();

    BsonDocument reply =
        cluster.execute(
            """
            {update: 'c', ordered: %s, %s, updates: [
              {q: {_id: -1}, u: {$inc: {n: 1}}},
              {q: {_id: {$gte: 1, $lte: 5}}, u: {$inc: {n: 1}}, multi: true},
              {q: {_id: 2}, u: {$inc: {n: 1}}}], $db: 'it'}"""
                .formatted(ordered, SESSION));

    assertThat(reply)
        .containsEntry("n", new BsonInt32(6))
        .containsEntry("nModified", new BsonInt32(4))
        .containsEntry("ok", new BsonDouble(1));
    assertThat(reply.getArray("writeErrors"))
        .singleElement()
        .satisfies(
            error ->
                assertThat(error.asDocument())
                    .containsEntry("index", new BsonInt32(2))
                    .containsEntry("code", new BsonInt32(121)));
    assertThat(cluster.seen("s0", "update"))
        .singleElement()
        .satisfies(sent -> assertThat(sent.getArray("stmtIds")).isEqualTo(ids(0)));
    assertThat(cluster.seen("s1", "update")).hasSize(1);
    assertThat(cluster.seen("m0", "update"))
        .singleElement()
        .satisfies(
            sent -> {
              assertThat(sent)
                  .containsAllEntriesOf(BsonDocument.parse("{" + SESSION + "}"))
                  .doesNotContainKeys("shardVersion", "writeConcern");
              assertThat(sent.getArray("stmtIds")).isEqualTo(ids(1, 2));
              assertThat(sent.getArray("updates")).hasSize(2);
            });
  }

  /** Statement ids that the client has set are kept. */
  @Test
  void keepsStatementIdsOfClient() {
    assertThat(cluster.execute("{find: 'c', filter: {_id: 5}, $db: 'it'}")).containsKey("cursor");
    moveRange("{ok: 1, n: 1, nModified: 1}");

    cluster.execute(
        """
        {update: 'c', stmtIds: [11, 12], %s, updates: [
          {q: {_id: -1}, u: {$inc: {n: 1}}},
          {q: {_id: {$gte: 1, $lte: 5}}, u: {$inc: {n: 1}}, multi: true}], $db: 'it'}"""
            .formatted(SESSION));

    assertThat(cluster.seen("m0", "update").get(0).getArray("stmtIds")).isEqualTo(ids(12));
  }

  /**
   * The connection to the mongos breaks at the second statement. The reply reports the first
   * statement as executed, and the outcome of the second statement as unknown.
   */
  @Test
  void reportsExecutedStatementsAfterLossOfMongos() {
    assertThat(cluster.execute("{find: 'c', filter: {_id: 5}, $db: 'it'}")).containsKey("cursor");
    moveRange();
    cluster.script(
        "m0",
        got ->
            new BsonString("chunks").equals(got.get("find"))
                ? ScriptedCluster.cursor(BsonArray.parse(SPLIT))
                : isWrite(got) ? ScriptedCluster.HANG_UP : null);

    BsonDocument reply =
        cluster.execute(
            """
            {update: 'c', updates: [
              {q: {_id: -1}, u: {$inc: {n: 1}}},
              {q: {_id: {$gte: 1, $lte: 5}}, u: {$inc: {n: 1}}, multi: true}], $db: 'it'}""");

    assertThat(reply).containsEntry("n", new BsonInt32(1));
    assertThat(reply.getArray("writeErrors"))
        .singleElement()
        .satisfies(
            error -> assertThat(error.asDocument()).containsEntry("index", new BsonInt32(1)));
    assertThat(cluster.seen("s0", "update")).hasSize(1);
    assertThat(cluster.seen("m0", "update")).hasSize(1);
  }

  /**
   * The connection of one part breaks twice, and OneHop sends this part again. The driver receives
   * a complete reply, so it sends nothing again.
   */
  @ParameterizedTest
  @CsvSource({"s1, true", "s1, false", "m0, true", "m0, false"})
  void resendsPartAfterBrokenConnection(String server, boolean ordered) {
    cluster.underADriver();
    assertThat(cluster.execute("{find: 'c', filter: {_id: 5}, $db: 'it'}")).containsKey("cursor");
    if (server.equals("m0")) {
      scriptWrites("s1", STALE);
    }
    cluster.script(
        server,
        got ->
            new BsonString("chunks").equals(got.get("find"))
                ? ScriptedCluster.cursor(BsonArray.parse(SPLIT))
                : !isWrite(got)
                    ? null
                    : updates.getAndIncrement() < 2
                        ? ScriptedCluster.HANG_UP
                        : BsonDocument.parse("{ok: 1, n: 1, nModified: 1}"));

    BsonDocument reply =
        cluster.execute(
            """
            {update: 'c', ordered: %s, %s, updates: [
              {q: {_id: -1}, u: {$inc: {n: 1}}},
              {q: {_id: {$gte: 1, $lte: 5}}, u: {$inc: {n: 1}}}], $db: 'it'}"""
                .formatted(ordered, SESSION));

    assertThat(reply)
        .containsEntry("ok", new BsonDouble(1))
        .containsEntry("n", new BsonInt32(2))
        .doesNotContainKey("writeErrors");
    assertThat(cluster.seen(server, "update"))
        .hasSize(3)
        .allSatisfy(sent -> assertThat(sent.getArray("stmtIds")).isEqualTo(ids(1)));
    assertThat(cluster.seen("s0", "update")).hasSize(1);
  }

  /** The aggregation may have written documents before it failed, so it must not be sent again. */
  @ParameterizedTest
  @ValueSource(strings = {"{hangUp: 1}", "{ok: 0, code: 91, errmsg: 'shutdown in progress'}"})
  void sendsWritingAggregationOnce(String reply) {
    cluster.script("m0", got -> got.containsKey("pipeline") ? BsonDocument.parse(reply) : null);

    BsonDocument result =
        cluster.execute(
            "{aggregate: 'c', pipeline: [{$match: {_id: 5}}, {$merge: 'o'}], cursor: {}, $db:"
                + " 'it'}");

    assertThat(result.getNumber("ok").intValue()).isZero();
    assertThat(cluster.seen("m0", "aggregate")).hasSize(1);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{update: 'c', updates: [{q: {_id: 1}, u: {$set: {_id: -1}}}], %s, $db: 'it'}",
        "{findAndModify: 'c', query: {_id: 1}, update: {$set: {_id: -1}}, %s, $db: 'it'}"
      })
  void forwardsShardKeyChangeUnchanged(String command) {
    String result = "{ok: 1, n: 1, nModified: 1, value: {_id: 1}, electionId: 5}";
    scriptWrites("s1", MOVES);
    scriptWrites("m0", result);
    BsonDocument sent = BsonDocument.parse(command.formatted(SESSION));

    assertThat(cluster.execute(command.formatted(SESSION)))
        .containsAllEntriesOf(BsonDocument.parse(result));

    assertThat(cluster.seen("m0", sent.getFirstKey()))
        .singleElement()
        .satisfies(
            got ->
                assertThat(got)
                    .containsAllEntriesOf(sent)
                    .doesNotContainKeys("shardVersion", "stmtIds", "writeConcern"));
    assertThat(cluster.seen("s0", sent.getFirstKey())).isEmpty();
  }

  /**
   * The shard has executed the statements before the change of the shard key. The retry history of
   * the session contains these statements, so the mongos does not execute them again.
   */
  @Test
  void forwardsShardKeyChangeWithinBatch() {
    cluster.script(
        "s1",
        got -> isWrite(got) && updates.getAndIncrement() == 0 ? BsonDocument.parse(MOVES) : null);
    scriptWrites(
        "m0",
        "{ok: 1, n: 1, nModified: 1, retriedStmtIds: [1], writeErrors: [{index: 1, code: 72, errmsg:"
            + " 'batch of size 1'}]}");

    BsonDocument reply =
        cluster.execute(
            """
            {update: 'c', %s, updates: [
              {q: {_id: -5}, u: {$inc: {n: 1}}}, {q: {_id: 5}, u: {$inc: {n: 1}}},
              {q: {_id: 1}, u: {$set: {_id: -1}}}, {q: {_id: 6}, u: {$inc: {n: 1}}}], $db: 'it'}"""
                .formatted(SESSION));

    assertThat(reply).containsEntry("n", new BsonInt32(2));
    assertThat(reply.getArray("writeErrors"))
        .singleElement()
        .satisfies(
            error ->
                assertThat(error.asDocument())
                    .containsEntry("index", new BsonInt32(2))
                    .containsEntry("code", new BsonInt32(72)));
    assertThat(cluster.seen("m0", "update").get(0).getArray("stmtIds")).isEqualTo(ids(1, 2, 3));
    assertThat(cluster.seen("s1", "update")).hasSize(1);
  }

  @Test
  void returnsErrorOfMongos() {
    scriptWrites("s1", MOVES);
    scriptWrites(
        "m0", "{ok: 0, code: 217, codeName: 'IncompleteTransactionHistory', errmsg: 'done'}");

    assertThat(
            cluster.execute(
                "{update: 'c', updates: [{q: {_id: 1}, u: {$set: {_id: -1}}}], %s, $db: 'it'}"
                    .formatted(SESSION)))
        .containsEntry("code", new BsonInt32(217))
        .doesNotContainKey("n");
  }

  /**
   * The outcome of the write is unknown. The error allows the driver to send the write again, with
   * the same transaction number.
   */
  @Test
  void lostMongosAllowsRetry() {
    scriptWrites("s1", MOVES);
    cluster.script("m0", got -> isWrite(got) ? ScriptedCluster.HANG_UP : null);

    BsonDocument reply =
        cluster.execute(
            "{update: 'c', updates: [{q: {_id: 1}, u: {$set: {_id: -1}}}], %s, $db: 'it'}"
                .formatted(SESSION));

    assertThat(reply.getNumber("ok").intValue()).isZero();
    assertThat(reply.getArray("errorLabels")).contains(new BsonString("RetryableWriteError"));
  }

  @Test
  void rejectsShardKeyChangeWithoutMongos() {
    cluster.seed("config");
    scriptWrites("s1", MOVES);

    BsonDocument reply =
        cluster.execute(
            "{update: 'c', updates: [{q: {_id: 1}, u: {$set: {_id: -1}}}], %s, $db: 'it'}"
                .formatted(SESSION));

    assertThat(reply).containsEntry("code", new BsonInt32(115));
    assertThat(reply.getString("errmsg").getValue()).contains("moves its document", "mongos");
  }

  private static BsonArray ids(int... ids) {
    BsonArray all = new BsonArray();
    for (int id : ids) {
      all.add(new BsonInt32(id));
    }
    return all;
  }
}
