package dev.onehop.testbed.standin;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onehop.shards.command.ScriptedCluster;
import dev.onehop.shards.command.ShardClient;
import java.util.concurrent.atomic.AtomicInteger;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Writes to several shards, one of which refuses its part as stale. Each statement is executed
 * once, or reported as failed.
 */
class RefusedWritesTest {
  private static final int WIRE_6_0 = 17;
  private static final String STALE_STATEMENT =
      "{ok: 1, n: 0, nModified: 0, writeErrors: [{index: 0, code: 13388, errmsg: 'not known'}]}";
  private static final String STALE_DATABASE =
      "{ok: 1, n: 0, nModified: 0, writeErrors: [{index: 0, code: 249, errmsg: 'not known'}]}";
  private static final String STALE_COMMAND =
      "{ok: 0, code: 13388, codeName: 'StaleConfig', errmsg: 'not known'}";

  private static final String UPDATE_MANY =
      "{update: 'c', updates: [{q: {x: 1}, u: {$inc: {n: 1}}, multi: true}], $db: 'it'}";
  private static final String DELETE_MANY =
      "{delete: 'c', deletes: [{q: {x: 1}, limit: 0}], $db: 'it'}";

  private final ScriptedCluster cluster =
      new ScriptedCluster(WIRE_6_0).routedBy(cluster -> new MongosRouter(cluster, false));
  private final AtomicInteger tries = new AtomicInteger();

  @AfterEach
  void close() {
    cluster.close();
  }

  /** Makes a shard give this reply to the first {@code times} commands of this name. */
  private void refuses(String shard, String name, String answer, int times) {
    cluster.script(
        shard,
        got ->
            got.getFirstKey().equals(name) && tries.incrementAndGet() <= times
                ? BsonDocument.parse(answer)
                : null);
  }

  @ParameterizedTest
  @ValueSource(strings = {STALE_STATEMENT, STALE_DATABASE, STALE_COMMAND})
  void retriesOnlyOnRefusingShard(String refusal) {
    refuses("s1", "update", refusal, 2);

    BsonDocument reply = cluster.execute(UPDATE_MANY);

    assertThat(reply).containsEntry("n", new BsonInt32(2)).doesNotContainKey("writeErrors");
    assertThat(cluster.seen("s0", "update")).hasSize(1);
    assertThat(cluster.seen("s1", "update")).hasSize(3);
  }

  @Test
  void retriesDelete() {
    refuses("s0", "delete", STALE_STATEMENT, 1);

    assertThat(cluster.execute(DELETE_MANY)).containsEntry("n", new BsonInt32(2));
    assertThat(cluster.seen("s0", "delete")).hasSize(2);
    assertThat(cluster.seen("s1", "delete")).hasSize(1);
  }

  @ParameterizedTest
  @ValueSource(strings = {STALE_STATEMENT, STALE_COMMAND})
  void reportsPersistentRefusal(String refusal) {
    refuses("s1", "update", refusal, Integer.MAX_VALUE);

    BsonDocument reply = cluster.execute(UPDATE_MANY);

    assertThat(reply).containsEntry("n", new BsonInt32(1));
    assertThat(reply.getArray("writeErrors"))
        .singleElement()
        .satisfies(
            error -> {
              assertThat(error.asDocument()).containsEntry("index", new BsonInt32(0));
              assertThat(error.asDocument()).containsEntry("code", new BsonInt32(13388));
              assertThat(error.asDocument().getString("errmsg").getValue())
                  .contains("shard s1", "not known");
            });
    assertThat(cluster.seen("s0", "update")).hasSize(1);
    assertThat(cluster.seen("s1", "update")).hasSize(ShardClient.MAX_TRIES);
  }

  /**
   * The first statement fails on {@code s1}. In an ordered batch, the second one is not executed.
   */
  @ParameterizedTest
  @CsvSource({"true,0", "false,1"})
  void persistentRefusalEndsOrderedBatch(boolean ordered, int later) {
    refuses("s1", "update", STALE_STATEMENT, ShardClient.MAX_TRIES);

    BsonDocument reply =
        cluster.execute(
            """
            {update: 'c', ordered: %s, updates: [
              {q: {x: 1}, u: {$inc: {n: 1}}, multi: true},
              {q: {x: 2}, u: {$inc: {n: 1}}, multi: true}], $db: 'it'}\
            """
                .formatted(ordered));

    assertThat(reply.getArray("writeErrors")).hasSize(1);
    assertThat(cluster.seen("s0", "update")).hasSize(1 + later);
    assertThat(cluster.seen("s1", "update")).hasSize(ShardClient.MAX_TRIES + later);
  }

  /**
   * {@code s1} refuses its inserts. The reply still counts the insert that {@code s0} has executed.
   */
  @ParameterizedTest
  @CsvSource({"true,1", "false,2"})
  void failsOnlyInsertsOfRefusingShard(boolean ordered, int left) {
    refuses("s1", "insert", STALE_COMMAND, Integer.MAX_VALUE);

    BsonDocument reply =
        cluster.execute(
            "{insert: 'c', documents: [{_id: -1}, {_id: 1}, {_id: 2}], ordered: %s, $db: 'it'}"
                .formatted(ordered));

    assertThat(reply).containsEntry("n", new BsonInt32(1));
    assertThat(reply.getNumber("ok").intValue()).isEqualTo(1);
    assertThat(reply.getArray("writeErrors"))
        .hasSize(left)
        .allSatisfy(e -> assertThat(e.asDocument()).containsEntry("code", new BsonInt32(13388)));
    assertThat(cluster.seen("s0", "insert")).hasSize(1);
  }

  @Test
  void mergesErrorsOfOneStatement() {
    for (String shard : new String[] {"s0", "s1"}) {
      cluster.script(
          shard,
          got ->
              got.getFirstKey().equals("update")
                  ? BsonDocument.parse(
                      "{ok: 1, n: 0, writeErrors: [{index: 0, code: 9, errmsg: 'bad'}]}")
                  : null);
    }

    assertThat(cluster.execute(UPDATE_MANY).getArray("writeErrors")).hasSize(1);
  }

  /** The error may concern the document of the statement, so the router does not try {@code s1}. */
  @Test
  void doesNotTryNextShardAfterError() {
    cluster.script(
        "s0",
        got ->
            got.getFirstKey().equals("update")
                ? BsonDocument.parse(
                    "{ok: 1, n: 0, writeErrors: [{index: 0, code: 121, errmsg: 'invalid'}]}")
                : null);

    BsonDocument reply =
        cluster.execute(
            "{update: 'c', ordered: false, updates: [{q: {x: 1}, u: {$inc: {n: 1}}}], $db: 'it'}");

    assertThat(reply).containsEntry("n", new BsonInt32(0)).containsKey("writeErrors");
    assertThat(cluster.seen("s1", "update")).isEmpty();
  }
}
