package dev.onehop.routing.internal.direct;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.onehop.shards.command.ScriptedCluster;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.bson.BsonArray;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonString;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.Disposable;

/** Transactions at a mongos that stops. */
class TransactionHandOverTest {
  private static final Duration TIMEOUT = Duration.ofSeconds(20);
  private static final int WIRE_6_0 = 17;
  private static final String TRANSACTION =
      "lsid: {id: 'a session'}, txnNumber: {$numberLong: '%d'}, autocommit: false";

  private final ScriptedCluster cluster = new ScriptedCluster(WIRE_6_0).routedBy(DirectRouter::new);

  @BeforeEach
  void begin() {
    cluster.seed("m0");
    assertOk(insert(1, true));
    // From now on, a command outside of a transaction would go to m1.
    cluster.seed("m1");
  }

  @AfterEach
  void close() {
    cluster.close();
  }

  @Test
  void transactionStaysWithItsMongos() {
    assertOk(insert(1, false));
    assertOk(end("commitTransaction", 1));

    assertThat(cluster.seen("m0", "insert")).hasSize(2);
    assertThat(cluster.seen("m0", "commitTransaction")).hasSize(1);
    assertThat(cluster.seen("m1", "insert")).isEmpty();
  }

  @Test
  void failedStatementIsTransient() {
    cluster.stop("m0");

    BsonDocument failed = insert(1, false);

    assertThat(failed).containsEntry("code", new BsonInt32(6));
    assertThat(labels(failed)).containsExactly("TransientTransactionError");
    assertThat(cluster.seen("m1", "insert")).isEmpty();
    assertOk(insert(2, true));
    assertThat(cluster.seen("m1", "insert")).hasSize(1);
  }

  @Test
  void failedFirstStatementIsTransient() {
    cluster.stop("m1");

    assertThat(labels(insert(2, true))).containsExactly("TransientTransactionError");
  }

  @ParameterizedTest
  @ValueSource(strings = {"commitTransaction", "abortTransaction"})
  void anotherMongosEndsTransaction(String command) {
    cluster.stop("m0");

    assertThat(labels(end(command, 1))).contains("RetryableWriteError");
    assertOk(end(command, 1));

    assertThat(cluster.seen("m1", command))
        .singleElement()
        .satisfies(
            seen -> assertThat(seen.getDocument("recoveryToken")).containsKey("recoveryShardId"));
  }

  @Test
  void commitReportsUnknownResult() {
    cluster.stop("m0");

    assertThat(labels(end("commitTransaction", 1)))
        .containsExactlyInAnyOrder("RetryableWriteError", "UnknownTransactionCommitResult");
  }

  @Test
  void commitMovesFromStoppingMongos() {
    cluster.script(
        "m0",
        got ->
            got.getFirstKey().equals("commitTransaction")
                ? BsonDocument.parse("{ok: 0, code: 91, codeName: 'ShutdownInProgress'}")
                : null);

    assertThat(end("commitTransaction", 1)).containsEntry("code", new BsonInt32(91));
    assertOk(end("commitTransaction", 1));

    assertThat(cluster.seen("m1", "commitTransaction")).hasSize(1);
  }

  @Test
  void abortWaitsForPreviousStatement() {
    cluster.hold("m1", got -> got.getFirstKey().equals("insert"));
    CompletableFuture<BsonDocument> first = cluster.executing(insertCommand(2, true)).toFuture();
    await().atMost(TIMEOUT).until(() -> cluster.seen("m1", "insert").size() == 1);

    // From now on, a command outside of a transaction would go to m0.
    cluster.seed("m0");
    CompletableFuture<BsonDocument> end =
        cluster.executing(endCommand("abortTransaction", 2)).toFuture();
    assertThat(end).isNotDone();
    cluster.release();

    assertThat(first).succeedsWithin(TIMEOUT);
    assertThat(end).succeedsWithin(TIMEOUT);
    assertThat(cluster.seen("m1", "abortTransaction")).hasSize(1);
    assertThat(cluster.seen("m0", "abortTransaction")).isEmpty();
  }

  /** A client closes its connection after a timeout, and then aborts the transaction. */
  @Test
  void abortFollowsCancelledStatement() {
    cluster.hold("m1", got -> got.getFirstKey().equals("insert"));
    Disposable first = cluster.executing(insertCommand(2, true)).subscribe();
    await().atMost(TIMEOUT).until(() -> cluster.seen("m1", "insert").size() == 1);

    cluster.seed("m0");
    first.dispose();
    assertOk(end("abortTransaction", 2));

    assertThat(cluster.seen("m1", "abortTransaction")).hasSize(1);
    assertThat(cluster.seen("m0", "abortTransaction")).isEmpty();
  }

  private BsonDocument insert(int transaction, boolean first) {
    return cluster.execute(insertCommand(transaction, first));
  }

  private static String insertCommand(int transaction, boolean first) {
    return "{insert: 'c', documents: [{_id: 1}], %s, %s $db: 'it'}"
        .formatted(TRANSACTION.formatted(transaction), first ? "startTransaction: true," : "");
  }

  private BsonDocument end(String command, int transaction) {
    return cluster.execute(endCommand(command, transaction));
  }

  private static String endCommand(String command, int transaction) {
    return "{%s: 1, recoveryToken: {recoveryShardId: 's0'}, %s, $db: 'admin'}"
        .formatted(command, TRANSACTION.formatted(transaction));
  }

  private static void assertOk(BsonDocument reply) {
    assertThat(reply.getNumber("ok").intValue()).as("%s", reply).isEqualTo(1);
  }

  private static List<String> labels(BsonDocument reply) {
    return reply.getArray("errorLabels", new BsonArray()).stream()
        .map(label -> ((BsonString) label).getValue())
        .toList();
  }
}
