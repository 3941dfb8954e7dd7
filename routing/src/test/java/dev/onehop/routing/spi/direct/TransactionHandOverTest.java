package dev.onehop.routing.spi.direct;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.bson.BsonArray;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonString;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Transactions that are handed to a mongos which goes away. */
class TransactionHandOverTest {
  private static final int WIRE_6_0 = 17;
  private static final String TRANSACTION =
      "lsid: {id: 'a session'}, txnNumber: {$numberLong: '%d'}, autocommit: false";

  private final ScriptedCluster cluster = new ScriptedCluster(WIRE_6_0);

  @BeforeEach
  void begin() {
    cluster.seed("m0");
    assertOk(insert(1, true));
    // The driver that watches them would choose this one now.
    cluster.seed("m1");
  }

  @AfterEach
  void close() {
    cluster.close();
  }

  @Test
  void aTransactionStaysWithItsMongos() {
    assertOk(insert(1, false));
    assertOk(end("commitTransaction", 1));

    assertThat(cluster.seen("m0", "insert")).hasSize(2);
    assertThat(cluster.seen("m0", "commitTransaction")).hasSize(1);
    assertThat(cluster.seen("m1", "insert")).isEmpty();
  }

  @Test
  void theWholeTransactionMayBeTriedAgainAfterAStatement() {
    cluster.stop("m0");

    BsonDocument failed = insert(1, false);

    assertThat(failed).containsEntry("code", new BsonInt32(6));
    assertThat(labels(failed)).containsExactly("TransientTransactionError");
    assertThat(cluster.seen("m1", "insert")).isEmpty();
    assertOk(insert(2, true));
    assertThat(cluster.seen("m1", "insert")).hasSize(1);
  }

  @Test
  void soItMayAfterItsFirstStatement() {
    cluster.stop("m1");

    assertThat(labels(insert(2, true))).containsExactly("TransientTransactionError");
  }

  @ParameterizedTest
  @ValueSource(strings = {"commitTransaction", "abortTransaction"})
  void anotherMongosEndsIt(String command) {
    cluster.stop("m0");

    assertThat(labels(end(command, 1))).contains("RetryableWriteError");
    assertOk(end(command, 1));

    assertThat(cluster.seen("m1", command))
        .singleElement()
        .satisfies(
            seen -> assertThat(seen.getDocument("recoveryToken")).containsKey("recoveryShardId"));
  }

  @Test
  void aCommitThatMayHaveBeenDoneSaysSo() {
    cluster.stop("m0");

    assertThat(labels(end("commitTransaction", 1)))
        .containsExactlyInAnyOrder("RetryableWriteError", "UnknownTransactionCommitResult");
  }

  @Test
  void aMongosThatShutsDownLetsTheCommitGo() {
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

  private BsonDocument insert(int transaction, boolean first) {
    return cluster.execute(
        "{insert: 'c', documents: [{_id: 1}], %s, %s $db: 'it'}"
            .formatted(TRANSACTION.formatted(transaction), first ? "startTransaction: true," : ""));
  }

  private BsonDocument end(String command, int transaction) {
    return cluster.execute(
        "{%s: 1, recoveryToken: {recoveryShardId: 's0'}, %s, $db: 'admin'}"
            .formatted(command, TRANSACTION.formatted(transaction)));
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
