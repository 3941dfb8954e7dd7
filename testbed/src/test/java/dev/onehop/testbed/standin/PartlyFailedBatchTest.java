package dev.onehop.testbed.standin;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onehop.shards.command.ScriptedCluster;
import dev.onehop.shards.command.ShardClient;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.bson.BsonArray;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonString;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Writes to several shards, one of which fails. The reply contains the results of the other shards.
 */
class PartlyFailedBatchTest {
  private static final int WIRE_6_0 = 17;
  private static final String STALE =
      "{ok: 0, code: 13388, codeName: 'StaleConfig', errmsg: 'not known'}";
  private static final String FAILED =
      "{ok: 0, code: 987654, codeName: 'Location987654', errmsg: 'never heard of'}";

  private final ScriptedCluster cluster =
      new ScriptedCluster(WIRE_6_0).routedBy(cluster -> new MongosRouter(cluster, false));
  private final AtomicInteger tries = new AtomicInteger();

  @AfterEach
  void close() {
    cluster.close();
  }

  private static BsonArray errors(BsonDocument reply) {
    assertThat(reply.getNumber("ok").intValue()).as("%s", reply).isEqualTo(1);
    return reply.getArray("writeErrors", new BsonArray());
  }

  private void breakConnection(String command) {
    // Opens the connections first, so that the next command is sent on a broken connection.
    cluster.execute(command);
    cluster.stop("s1");
  }

  @ParameterizedTest
  @CsvSource({"true,1", "false,2"})
  void countsInsertsWhenConnectionBreaks(boolean ordered, int left) {
    String insert =
        "{insert: 'c', documents: [{_id: -1}, {_id: 1}, {_id: 2}], ordered: %s, $db: 'it'}"
            .formatted(ordered);
    breakConnection(insert);

    BsonDocument reply = cluster.execute(insert);

    assertThat(reply).containsEntry("n", new BsonInt32(1));
    assertThat(errors(reply))
        .hasSize(left)
        .allSatisfy(e -> assertThat(e.asDocument()).containsEntry("code", new BsonInt32(6)));
    assertThat(errors(reply).get(0).asDocument()).containsEntry("index", new BsonInt32(1));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{update: 'c', updates: [{q: {x: 1}, u: {$inc: {n: 1}}, multi: true}], $db: 'it'}",
        "{delete: 'c', deletes: [{q: {x: 1}, limit: 0}], $db: 'it'}"
      })
  void countsWritesOfReachableShard(String command) {
    breakConnection(command);

    BsonDocument reply = cluster.execute(command);

    assertThat(reply).containsEntry("n", new BsonInt32(1));
    assertThat(errors(reply))
        .singleElement()
        .satisfies(e -> assertThat(e.asDocument()).containsEntry("code", new BsonInt32(6)));
  }

  /**
   * s0 has changed some documents, and refuses the rest of the update in all attempts. s1 can't be
   * reached. The driver must not send the update again.
   */
  @Test
  void partlyExecutedMultiUpdateIsNotRetryable() {
    String update =
        "{update: 'c', updates: [{q: {x: 1}, u: {$inc: {n: 1}}, multi: true}], $db: 'it'}";
    breakConnection(update);
    // The connection to s1 breaks during this command. The next command is not sent to s1.
    cluster.execute(update);
    cluster.script(
        "s0",
        got ->
            got.getFirstKey().equals("update")
                ? BsonDocument.parse(
                    "{ok: 1, n: 3, nModified: 3, writeErrors: [{index: 0, code: 13388, codeName:"
                        + " 'StaleConfig', errmsg: 'moves'}]}")
                : null);

    BsonDocument reply = cluster.execute(update);

    assertThat(errors(reply)).hasSize(1);
    assertThat(cluster.seen("s0", "update")).hasSizeGreaterThan(ShardClient.MAX_TRIES);
    assertThat(reply.getArray("errorLabels", new BsonArray()))
        .doesNotContain(new BsonString("RetryableError"));
  }

  /** If one shard fails, the command to a slow shard is not cancelled. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "{update: 'c', updates: [{q: {x: 1}, u: {$inc: {n: 1}}, multi: true}], $db: 'it'}",
        "{insert: 'c', documents: [{_id: -1}, {_id: 1}], ordered: false, $db: 'it'}"
      })
  void failureDoesNotCancelOtherShards(String command) {
    String name = BsonDocument.parse(command).getFirstKey();
    AtomicReference<BsonDocument> failure = new AtomicReference<>();
    cluster.script(
        "s0",
        got -> {
          if (got.getFirstKey().equals(name) && tries.getAndIncrement() > 0) {
            // This insert goes to s1 after the batch. When it has failed, the part of the batch for
            // s1 has failed, too.
            failure.set(cluster.execute("{insert: 'c', documents: [{_id: 1}], $db: 'it'}"));
          }
          return null;
        });
    breakConnection(command);

    assertThat(cluster.execute(command)).containsEntry("n", new BsonInt32(1));
    assertThat(failure.get()).containsEntry("code", new BsonInt32(6));
  }

  /**
   * No statement was executed. The whole command fails, so that the driver may send a retryable
   * batch again.
   */
  @Test
  void commandFailsWhenNothingWasWritten() {
    String insert = "{insert: 'c', documents: [{_id: 1}, {_id: 2}], ordered: false, $db: 'it'}";
    breakConnection(insert);

    assertThat(cluster.execute(insert))
        .containsEntry("code", new BsonInt32(6))
        .doesNotContainKey("writeErrors");
  }

  @Test
  void retriesStaleShardWhenOtherShardFails() {
    cluster.script(
        "s0", got -> got.getFirstKey().equals("insert") ? BsonDocument.parse(FAILED) : null);
    cluster.script(
        "s1",
        got ->
            got.getFirstKey().equals("insert") && tries.incrementAndGet() == 1
                ? BsonDocument.parse(STALE)
                : null);

    BsonDocument reply =
        cluster.execute(
            "{insert: 'c', documents: [{_id: -1}, {_id: 1}], ordered: false, $db: 'it'}");

    assertThat(reply).containsEntry("n", new BsonInt32(1));
    assertThat(reply).containsEntry("code", new BsonInt32(987654));
    assertThat(cluster.seen("s0", "insert")).hasSize(1);
    assertThat(cluster.seen("s1", "insert")).hasSize(2);
  }

  @Test
  void retriesStaleShardWhenOtherShardIsUnreachable() {
    String insert = "{insert: 'c', documents: [{_id: -1}, {_id: 1}], ordered: false, $db: 'it'}";
    breakConnection(insert);
    cluster.script(
        "s0",
        got ->
            got.getFirstKey().equals("insert") && tries.incrementAndGet() == 1
                ? BsonDocument.parse(STALE)
                : null);

    BsonDocument reply = cluster.execute(insert);

    assertThat(reply).containsEntry("n", new BsonInt32(1));
    assertThat(errors(reply))
        .singleElement()
        .satisfies(e -> assertThat(e.asDocument()).containsEntry("index", new BsonInt32(1)));
    assertThat(cluster.seen("s0", "insert")).hasSize(3);
  }
}
