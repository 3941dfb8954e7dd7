package dev.onehop.routing.internal.direct;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onehop.shards.command.ScriptedCluster;
import dev.onehop.shards.command.ShardClient;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonTimestamp;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Unexpected replies of servers. The caller receives an error, never a wrong result. */
class MisbehavingShardTest {
  private static final int WIRE_6_0 = 17;
  private static final int WIRE_8_0 = 25;
  private static final String UNKNOWN =
      "{ok: 0, code: 987654, codeName: 'Location987654', errmsg: 'never heard of'}";

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{find: 'c', filter: {_id: 5}, $db: 'it'}",
        "{aggregate: 'c', pipeline: [{$match: {_id: 5}}], cursor: {}, $db: 'it'}",
        "{count: 'c', query: {_id: 5}, $db: 'it'}",
        "{distinct: 'c', key: 'x', query: {_id: 5}, $db: 'it'}",
        "{findAndModify: 'c', query: {_id: 5}, update: {$inc: {n: 1}}, $db: 'it'}",
        "{insert: 'c', documents: [{_id: 5}], $db: 'it'}",
        "{update: 'c', updates: [{q: {_id: 5}, u: {$inc: {n: 1}}}], $db: 'it'}",
        "{delete: 'c', deletes: [{q: {_id: 5}, limit: 1}], $db: 'it'}"
      })
  void returnsUnknownErrorWithoutRetry(String command) {
    try (ScriptedCluster cluster = new ScriptedCluster(WIRE_6_0).routedBy(DirectRouter::new)) {
      String name = BsonDocument.parse(command).getFirstKey();
      cluster.script(
          "s1", got -> got.getFirstKey().equals(name) ? BsonDocument.parse(UNKNOWN) : null);

      BsonDocument reply = cluster.execute(command);

      assertThat(reply).containsEntry("code", new BsonInt32(987654));
      assertThat(reply.getNumber("ok").intValue()).isZero();
      assertThat(reply).doesNotContainKeys("cursor", "values", "value");
      assertThat(cluster.seen("s1", name)).hasSize(1);
    }
  }

  /**
   * The error of one shard does not hide the results of the other shard: the reply contains both.
   */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void batchReportsWritesBeforeFailure(boolean ordered) {
    try (ScriptedCluster cluster = new ScriptedCluster(WIRE_6_0).routedBy(DirectRouter::new)) {
      cluster.script(
          "s1", got -> got.getFirstKey().equals("insert") ? BsonDocument.parse(UNKNOWN) : null);

      BsonDocument reply =
          cluster.execute(
              "{insert: 'c', documents: [{_id: -1}, {_id: -2}, {_id: 1}, {_id: 2}], ordered: %s, $db: 'it'}"
                  .formatted(ordered));

      assertThat(reply).containsEntry("n", new BsonInt32(2));
      assertThat(reply).containsEntry("code", new BsonInt32(987654));
      assertThat(reply.getNumber("ok").intValue()).isZero();
      assertThat(cluster.seen("s1", "insert")).hasSize(1);
    }
  }

  @Test
  void statementErrorKeepsIndexOfCaller() {
    try (ScriptedCluster cluster = new ScriptedCluster(WIRE_6_0).routedBy(DirectRouter::new)) {
      cluster.script(
          "s1",
          got ->
              got.getFirstKey().equals("insert")
                  ? BsonDocument.parse(
                      "{ok: 1, n: 1, writeErrors: [{index: 1, code: 987654, errmsg: 'x'}]}")
                  : null);

      BsonDocument reply =
          cluster.execute(
              "{insert: 'c', documents: [{_id: 1}, {_id: -1}, {_id: 2}], ordered: false, $db:"
                  + " 'it'}");

      assertThat(reply).containsEntry("n", new BsonInt32(2));
      assertThat(reply.getArray("writeErrors"))
          .singleElement()
          .satisfies(
              error -> {
                assertThat(error.asDocument()).containsEntry("index", new BsonInt32(2));
                assertThat(error.asDocument()).containsEntry("code", new BsonInt32(987654));
              });
    }
  }

  /** The error's label allows a retry, whatever the error code is. */
  @Test
  void retriesLabelledErrorWithSameTransactionNumber() {
    try (ScriptedCluster cluster = new ScriptedCluster(WIRE_6_0).routedBy(DirectRouter::new)) {
      AtomicInteger tries = new AtomicInteger();
      cluster.script(
          "s1",
          got ->
              got.getFirstKey().equals("update") && tries.incrementAndGet() < 3
                  ? BsonDocument.parse(
                      "{ok: 0, code: 987654, errmsg: 'x', errorLabels: ['RetryableWriteError']}")
                  : null);

      BsonDocument reply =
          cluster.execute(
              """
              {update: 'c', updates: [{q: {_id: 5}, u: {$inc: {n: 1}}}], lsid: {id: 'a'},
               txnNumber: {$numberLong: '7'}, $db: 'it'}\
              """);

      assertThat(reply).containsEntry("n", new BsonInt32(1));
      assertThat(cluster.seen("s1", "update"))
          .hasSize(3)
          .allSatisfy(sent -> assertThat(sent.getInt64("txnNumber").getValue()).isEqualTo(7));
    }
  }

  /** A shard refuses every version. After some attempts, the caller receives the refusal. */
  @Test
  void returnsStaleErrorAfterMaximumTries() {
    try (ScriptedCluster cluster = new ScriptedCluster(WIRE_6_0).routedBy(DirectRouter::new)) {
      cluster.script(
          "s1",
          got ->
              got.getFirstKey().equals("find")
                  ? BsonDocument.parse(
                      "{ok: 0, code: 13388, codeName: 'StaleConfig', errmsg: 'no'}")
                  : null);

      BsonDocument reply = cluster.execute("{find: 'c', filter: {_id: 5}, $db: 'it'}");

      assertThat(reply).containsEntry("code", new BsonInt32(13388));
      assertThat(cluster.seen("s1", "find")).hasSize(ShardClient.MAX_TRIES);
    }
  }

  /**
   * The clock of a shard has jumped ten years ahead. Other servers refuse the time of this shard.
   * Even so, OneHop reads the metadata.
   */
  @Test
  void readsMetadataDespiteFutureClusterTime() {
    try (ScriptedCluster cluster = new ScriptedCluster(WIRE_6_0).routedBy(DirectRouter::new)) {
      AtomicInteger refusals = new AtomicInteger();
      BsonTimestamp future = new BsonTimestamp(2_000_000_000, 1);
      cluster.script(
          "config",
          got ->
              isFuture(got, future)
                  ? BsonDocument.parse(
                      "{ok: 0, code: 205, codeName: 'ClusterTimeFailsRateLimiter', errmsg: 'x'}")
                  : null);
      cluster.script(
          "s1",
          got -> {
            if (!got.getFirstKey().equals("insert")) {
              return null;
            }
            BsonDocument reply =
                refusals.incrementAndGet() < 3
                    ? BsonDocument.parse("{ok: 0, code: 13388, errmsg: 'stale'}")
                    : BsonDocument.parse("{ok: 1, n: 1}");
            return reply.append("$clusterTime", new BsonDocument("clusterTime", future));
          });

      BsonDocument reply = cluster.execute("{insert: 'c', documents: [{_id: 5}], $db: 'it'}");

      assertThat(reply).containsEntry("n", new BsonInt32(1));
      assertThat(cluster.seen("s1", "insert")).hasSize(3);
      // The read of the metadata with the wrong time is refused. It succeeds without the time.
      assertThat(cluster.seen("config", "find")).anyMatch(got -> isFuture(got, future));
      assertThat(cluster.execute("{find: 'c', filter: {_id: -5}, $db: 'it'}"))
          .containsKey("cursor");
    }
  }

  /**
   * An application uses a session of another cluster. Only the operation with this session fails.
   */
  @Test
  void doesNotGossipTimeOfForeignSession() {
    try (ScriptedCluster cluster = new ScriptedCluster(WIRE_6_0).routedBy(DirectRouter::new)) {
      BsonTimestamp foreign = new BsonTimestamp(1_999_999_999, 1);
      cluster.script(
          "s1",
          got ->
              isFuture(got, foreign)
                  ? BsonDocument.parse("{ok: 0, code: 211, codeName: 'KeyNotFound', errmsg: 'x'}")
                  : null);

      BsonDocument refused =
          cluster.execute(
              """
              {find: 'c', filter: {_id: 5}, $clusterTime: {
                clusterTime: {$timestamp: {t: 1999999999, i: 1}}}, $db: 'it'}\
              """);

      assertThat(refused).containsEntry("code", new BsonInt32(211));
      assertThat(cluster.execute("{find: 'c', filter: {_id: 5}, $db: 'it'}")).containsKey("cursor");
      for (String server : List.of("config", "s0")) {
        assertThat(cluster.seen(server, "find")).noneMatch(got -> isFuture(got, foreign));
      }
    }
  }

  private static boolean isFuture(BsonDocument command, BsonTimestamp time) {
    return command.get("$clusterTime") instanceof BsonDocument received
        && received.getTimestamp("clusterTime").compareTo(time) >= 0;
  }

  @Test
  void rejectsShardsOf8WithoutRole() {
    try (ScriptedCluster cluster = new ScriptedCluster(WIRE_8_0).routedBy(DirectRouter::new)) {
      for (String shard : List.of("s0", "s1")) {
        cluster.script(shard, got -> status(got, shard.equals("s0")));
      }

      BsonDocument reply = cluster.execute("{insert: 'c', documents: [{_id: 5}], $db: 'it'}");

      assertThat(reply).containsEntry("code", new BsonInt32(13));
      assertThat(reply.getString("errmsg").getValue())
          .contains("shard s1", "8.0", "directShardOperations", "docker/direct-users.js");
      assertThat(cluster.seen("s1", "insert")).isEmpty();
    }
  }

  @Test
  void usesShardsOf8WithRole() {
    try (ScriptedCluster cluster = new ScriptedCluster(WIRE_8_0).routedBy(DirectRouter::new)) {
      for (String shard : List.of("s0", "s1")) {
        cluster.script(shard, got -> status(got, true));
      }

      assertThat(cluster.execute("{insert: 'c', documents: [{_id: 5}], $db: 'it'}"))
          .containsEntry("n", new BsonInt32(1));
      assertThat(cluster.seen("s1", "insert").get(0).getDocument("shardVersion"))
          .containsOnlyKeys("e", "t", "v");
    }
  }

  private static BsonDocument status(BsonDocument command, boolean withRole) {
    return command.containsKey("connectionStatus")
        ? BsonDocument.parse(
            """
            {ok: 1, authInfo: {authenticatedUsers: [{user: 'u', db: 'admin'}],
              authenticatedUserPrivileges: [
                {resource: {cluster: true}, actions: [%s]},
                {resource: {db: 'it', collection: ''}, actions: ['find', 'insert']}]}}\
            """
                .formatted(withRole ? "'issueDirectShardOperations'" : ""))
        : null;
  }
}
