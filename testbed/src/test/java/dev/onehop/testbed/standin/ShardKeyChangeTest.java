package dev.onehop.testbed.standin;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onehop.shards.command.ScriptedCluster;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonString;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** An update moves a document from s0 to s1. In most tests, one of its commands fails. */
class ShardKeyChangeTest {
  private static final int WIRE_6_0 = 17;
  private static final String CHANGES_SHARD =
      """
      {ok: 0, code: 283, codeName: 'WouldChangeOwningShard', errmsg: 'as scripted',
       preImage: {_id: -1, n: 1}, postImage: {_id: 1, n: 1}, shouldUpsert: false}""";
  private static final String UPDATE =
      """
      {update: 'c', updates: [{q: {_id: -1}, u: {$set: {_id: 1}}}],
       lsid: {id: {$uuid: '00000000-0000-4000-8000-000000000009'}}, txnNumber: {$numberLong: '7'}, $db: 'it'}""";

  private final ScriptedCluster cluster =
      new ScriptedCluster(WIRE_6_0).routedBy(cluster -> new MongosRouter(cluster, false));
  private final AtomicInteger tries = new AtomicInteger();

  @BeforeEach
  void scriptUpdates() {
    cluster.script("s0", got -> isUpdate(got) ? BsonDocument.parse(CHANGES_SHARD) : null);
  }

  @AfterEach
  void close() {
    cluster.close();
  }

  private static boolean isUpdate(BsonDocument got) {
    return got.getFirstKey().equals("update");
  }

  /** Makes a shard give this reply to the first {@code times} commands of this name. */
  private void replies(String shard, String name, String answer, int times) {
    cluster.script(
        shard,
        got ->
            got.getFirstKey().equals(name) && tries.incrementAndGet() <= times
                ? BsonDocument.parse(answer)
                : isUpdate(got) ? BsonDocument.parse(CHANGES_SHARD) : null);
  }

  @Test
  void movesDocumentInOneTransaction() {
    BsonDocument reply = cluster.execute(UPDATE);

    assertThat(reply)
        .containsEntry("n", new BsonInt32(1))
        .containsEntry("nModified", new BsonInt32(1))
        .doesNotContainKeys("recoveryToken", "writeErrors");
    List<BsonDocument> updates = cluster.seen("s0", "update");
    assertThat(updates).hasSize(2);
    assertThat(updates.get(0)).doesNotContainKey("autocommit");
    assertThat(updates.get(1)).containsKeys("startTransaction", "coordinator", "autocommit");
    assertThat(cluster.seen("s0", "delete")).hasSize(1);
    assertThat(cluster.seen("s1", "insert"))
        .singleElement()
        .satisfies(
            sent -> {
              assertThat(sent.getArray("documents"))
                  .containsExactly(BsonDocument.parse("{_id: 1, n: 1}"));
              assertThat(sent).containsKey("startTransaction");
              assertThat(sent.getInt64("txnNumber").getValue()).isEqualTo(7);
            });
    assertThat(cluster.seen("s0", "coordinateCommitTransaction")).hasSize(1);
  }

  /**
   * The insert fails before the commit. All changes are undone, and the transaction starts again.
   */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "{ok: 0, code: 13388, codeName: 'StaleConfig', errmsg: 'not known'}",
        "{ok: 1, n: 0, writeErrors: [{index: 0, code: 13388, errmsg: 'not known'}]}",
        "{ok: 0, code: 112, errmsg: 'conflict', errorLabels: ['TransientTransactionError']}"
      })
  void retriesUncommittedTransaction(String refusal) {
    replies("s1", "insert", refusal, 1);

    assertThat(cluster.execute(UPDATE)).containsEntry("n", new BsonInt32(1));
    assertThat(cluster.seen("s0", "abortTransaction")).hasSize(1);
    assertThat(cluster.seen("s0", "delete")).hasSize(2);
    assertThat(cluster.seen("s1", "insert")).hasSize(2);
    assertThat(cluster.seen("s0", "coordinateCommitTransaction")).hasSize(1);
  }

  @Test
  void abortsAndReportsErrorOfStatement() {
    replies("s1", "insert", "{ok: 1, n: 0, writeErrors: [{index: 0, code: 121, errmsg: 'no'}]}", 9);

    BsonDocument reply = cluster.execute(UPDATE);

    assertThat(reply.getArray("writeErrors").get(0).asDocument())
        .containsEntry("code", new BsonInt32(121));
    assertThat(reply).containsEntry("n", new BsonInt32(0));
    assertThat(cluster.seen("s0", "abortTransaction")).hasSize(1);
    assertThat(cluster.seen("s1", "abortTransaction")).hasSize(1);
    assertThat(cluster.seen("s0", "coordinateCommitTransaction")).isEmpty();
  }

  /** Nothing was written. The whole command fails, so that the driver waits and sends it again. */
  @Test
  void overloadedShardFailsCommand() {
    replies(
        "s1",
        "insert",
        "{ok: 0, code: 462, errmsg: 'too much', errorLabels: ['SystemOverloadedError']}",
        9);

    assertThat(cluster.execute(UPDATE))
        .containsEntry("code", new BsonInt32(462))
        .doesNotContainKey("writeErrors");
  }

  /** An interrupted commit may have taken effect. The router sends it again, and never aborts. */
  @Test
  void retriesInterruptedCommit() {
    replies("s0", "coordinateCommitTransaction", "{ok: 0, code: 11602, errmsg: 'x'}", 2);

    assertThat(cluster.execute(UPDATE)).containsEntry("n", new BsonInt32(1));
    assertThat(cluster.seen("s0", "coordinateCommitTransaction")).hasSize(3);
    assertThat(cluster.seen("s0", "abortTransaction")).isEmpty();
    assertThat(cluster.seen("s0", "delete")).hasSize(1);
  }

  /** The driver sends the update again with the same number, so it cannot take effect twice. */
  @Test
  void commitOfUnknownOutcomeIsRetryable() {
    replies("s0", "coordinateCommitTransaction", "{ok: 0, code: 11602, errmsg: 'x'}", 99);

    BsonDocument reply = cluster.execute(UPDATE);

    assertThat(reply.getNumber("ok").intValue()).isZero();
    assertThat(reply.getArray("errorLabels")).contains(new BsonString("RetryableWriteError"));
    assertThat(cluster.seen("s0", "abortTransaction")).isEmpty();
    assertThat(cluster.seen("s0", "delete")).hasSize(1);
  }
}
