package dev.onehop.testbed.standin;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.onehop.shards.command.ScriptedCluster;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.bson.BsonArray;
import org.bson.BsonDocument;
import org.bson.BsonDouble;
import org.bson.BsonInt32;
import org.bson.BsonInt64;
import org.bson.BsonString;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Statements of transactions that a shard refuses as stale. */
class RefusedTransactionsTest {
  private static final int WIRE_6_0 = 17;
  private static final String STALE_STATEMENT =
      "{ok: 1, n: 0, nModified: 0, writeErrors: [{index: 0, code: 13388, errmsg: 'not known'}]}";
  private static final String STALE_COMMAND =
      "{ok: 0, code: 13388, codeName: 'StaleConfig', errmsg: 'not known'}";

  private static final Set<String> MOVED = Set.of("find", "update");
  private static final String MOVED_CHUNK =
      """
      {_id: 2, min: {_id: 0}, max: {_id: {$maxKey: 1}}, shard: 's0',
       lastmod: {$timestamp: {t: 2, i: 0}},
       uuid: {$uuid: '00000000-0000-4000-8000-000000000001'}}\
      """;

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

  private static String inTransaction(String command, boolean first) {
    return inTransaction(1, command, first);
  }

  private static String inTransaction(int number, String command, boolean first) {
    return """
    {%s, lsid: {id: {$uuid: '00000000-0000-4000-8000-000000000009'}},
     txnNumber: {$numberLong: '%d'}, autocommit: false%s, $db: 'it'}\
    """
        .formatted(command, number, first ? ", startTransaction: true" : "");
  }

  /**
   * Makes {@code s1} refuse commands, because {@code s0} now owns its documents. The router does
   * not know this yet.
   */
  private void moveToS0(String refusal) {
    cluster.script(
        "s1", got -> MOVED.contains(got.getFirstKey()) ? BsonDocument.parse(refusal) : null);
    cluster.script(
        "config",
        got ->
            new BsonString("chunks").equals(got.get("find"))
                ? ScriptedCluster.cursor(new BsonArray(List.of(BsonDocument.parse(MOVED_CHUNK))))
                : null);
  }

  /** If {@code s1} refuses the first statement of a transaction, it starts again on all shards. */
  @ParameterizedTest
  @ValueSource(strings = {STALE_STATEMENT, STALE_COMMAND})
  void retriesFirstStatementOnAllShards(String refusal) {
    refuses("s1", "update", refusal, 1);

    BsonDocument reply =
        cluster.execute(
            inTransaction(
                "update: 'c', updates: [{q: {x: 1}, u: {$inc: {n: 1}}, multi: true}]", true));

    assertThat(reply).containsEntry("n", new BsonInt32(2)).doesNotContainKey("writeErrors");
    assertThat(cluster.seen("s0", "update"))
        .hasSize(2)
        .allSatisfy(sent -> assertThat(sent).containsKey("startTransaction"));
    assertThat(cluster.seen("s1", "update"))
        .hasSize(2)
        .allSatisfy(sent -> assertThat(sent).containsKey("startTransaction"));
  }

  /**
   * A shard does not start a running transaction again. So the router aborts the transaction on
   * {@code s0} before the second attempt.
   */
  @Test
  void abortsStartedTransactionBeforeRetry() {
    refuses("s1", "update", STALE_COMMAND, 1);

    cluster.execute(
        inTransaction("update: 'c', updates: [{q: {x: 1}, u: {$inc: {n: 1}}, multi: true}]", true));

    assertThat(cluster.seen("s0", "abortTransaction"))
        .singleElement()
        .satisfies(sent -> assertThat(sent).containsKeys("lsid", "txnNumber", "autocommit"));
  }

  /** If {@code s1} refuses its insert, the insert on {@code s0} is undone, and both run again. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void retriedFirstBatchLosesNoInserts(boolean ordered) {
    refuses("s1", "insert", STALE_COMMAND, 1);

    BsonDocument reply =
        cluster.execute(
            inTransaction(
                "insert: 'c', documents: [{_id: -1}, {_id: 1}], ordered: %s".formatted(ordered),
                true));

    assertThat(reply).containsEntry("n", new BsonInt32(2));
    assertThat(cluster.seen("s0", "insert"))
        .hasSize(2)
        .allSatisfy(sent -> assertThat(sent).containsKey("startTransaction"));
    assertThat(cluster.seen("s1", "insert"))
        .hasSize(2)
        .allSatisfy(sent -> assertThat(sent).containsKey("startTransaction"));
  }

  /**
   * A shard may refuse statements for seconds, for example while a migration commits. The client
   * may then start the transaction again.
   */
  @Test
  void refusedFirstStatementIsTransientError() {
    refuses("s1", "find", STALE_COMMAND, 1_000);

    assertThat(cluster.execute(inTransaction("find: 'c', filter: {_id: 5}", true)))
        .containsEntry("code", new BsonInt32(13388))
        .containsEntry(
            "errorLabels", new BsonArray(List.of(new BsonString("TransientTransactionError"))));
  }

  @Test
  void sessionsEndInTheBackground() {
    cluster.execute("{find: 'c', filter: {_id: 5}, $db: 'it'}");
    cluster.hold("s1", got -> got.containsKey("endSessions"));

    assertThat(
            cluster
                .executing(
                    "{endSessions: [{id: {$uuid: '00000000-0000-4000-8000-000000000009'}}],"
                        + " $db: 'admin'}")
                .block(Duration.ofSeconds(1)))
        .containsEntry("ok", new BsonDouble(1));
    await().until(() -> cluster.seen("s1", "endSessions").size() == 1);
    cluster.release();
  }

  @ParameterizedTest
  @ValueSource(strings = {STALE_STATEMENT, STALE_COMMAND})
  void refusedLaterStatementFailsTransaction(String refusal) {
    cluster.execute(inTransaction("find: 'c', filter: {_id: 5}", true));
    refuses("s1", "update", refusal, 1);

    BsonDocument reply =
        cluster.execute(
            inTransaction(
                "update: 'c', updates: [{q: {x: 1}, u: {$inc: {n: 1}}, multi: true}]", false));

    assertThat(reply.getNumber("ok").intValue()).isZero();
    assertThat(reply.getArray("errorLabels"))
        .containsExactly(new BsonString("TransientTransactionError"));
    assertThat(cluster.seen("s1", "update")).hasSize(1);
  }

  /**
   * The router must refresh its table: with the old table, the shard would refuse every retry of a
   * client.
   */
  @ParameterizedTest
  @CsvSource(
      quoteCharacter = '`',
      delimiter = '|',
      value = {
        "update | update: 'c', updates: [{q: {_id: 5}, u: {$inc: {n: 1}}}] | " + STALE_STATEMENT,
        "update | update: 'c', updates: [{q: {_id: 5}, u: {$inc: {n: 1}}}] | " + STALE_COMMAND,
        "find | find: 'c', filter: {_id: 5} | " + STALE_COMMAND
      })
  void nextTransactionUsesNewTable(String name, String statement, String refusal) {
    String first = "find: 'c', filter: {_id: -5}";
    cluster.execute(inTransaction(1, first, true));
    moveToS0(refusal);

    BsonDocument failed = cluster.execute(inTransaction(1, statement, false));

    assertThat(failed.getArray("errorLabels"))
        .containsExactly(new BsonString("TransientTransactionError"));
    cluster.execute(inTransaction(2, first, true));
    BsonDocument reply = cluster.execute(inTransaction(2, statement, false));
    assertThat(reply.getNumber("ok").intValue()).as("%s", reply).isEqualTo(1);
    assertThat(reply).doesNotContainKey("writeErrors");
    assertThat(cluster.seen("s1", name)).hasSize(1);
    assertThat(cluster.seen("s0", name))
        .last()
        .satisfies(sent -> assertThat(sent).containsEntry("txnNumber", new BsonInt64(2)));
  }

  /**
   * After the error, the shard has no transaction any more. A later statement would get an error
   * that makes the client retry the transaction. So the router sends no later statement.
   */
  @Test
  void errorEndsUnorderedBatchInTransaction() {
    refuses(
        "s1",
        "update",
        "{ok: 1, n: 0, writeErrors: [{index: 0, code: 11000, errmsg: 'there'}]}",
        1);

    BsonDocument reply =
        cluster.execute(
            inTransaction(
                "update: 'c', ordered: false, updates: [{q: {x: 1}, u: {$inc: {n: 1}}, multi:"
                    + " true}, {q: {_id: 5}, u: {$inc: {n: 1}}}]",
                true));

    assertThat(reply.getArray("writeErrors"))
        .singleElement()
        .satisfies(
            error -> assertThat(error.asDocument()).containsEntry("code", new BsonInt32(11000)));
    assertThat(cluster.seen("s0", "update")).isEmpty();
    assertThat(cluster.seen("s1", "update")).hasSize(1);
  }
}
