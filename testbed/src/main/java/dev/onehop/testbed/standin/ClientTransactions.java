package dev.onehop.testbed.standin;

import dev.onehop.shards.cluster.ClusterClock;
import dev.onehop.testbed.standin.command.Transactions;
import dev.onehop.testbed.standin.command.Transactions.Transaction;
import dev.onehop.wire.message.CommandFailure;
import dev.onehop.wire.message.OpMsg;
import java.util.List;
import java.util.Objects;
import org.bson.BsonBoolean;
import org.bson.BsonDocument;
import org.bson.BsonString;
import org.bson.BsonTimestamp;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * The clients' transactions, which may have any number of statements. They are executed as by a
 * mongos: see {@code src/mongo/s/transaction_router.cpp}.
 *
 * <p>Thread-safe.
 */
final class ClientTransactions {
  private final Transactions transactions;
  private final ClusterClock clock;
  private final MovedRanges movedRanges;

  ClientTransactions(Transactions transactions, ClusterClock clock, MovedRanges movedRanges) {
    this.transactions = transactions;
    this.clock = clock;
    this.movedRanges = movedRanges;
  }

  /**
   * Runs one statement and counts it. Adds the recovery token to the reply. The token names the
   * shard that can report the outcome.
   */
  Mono<BsonDocument> statement(OpMsg command, Mono<BsonDocument> run) {
    return Mono.defer(
        () -> {
          Transaction transaction = begunOrContinued(command);
          BsonTimestamp time = transaction.snapshotTime();
          return (time == null
                  ? run
                  : run.flatMap(
                      reply ->
                          movedRanges.check(
                              command,
                              time,
                              reply,
                              List.of(CommandFailure.TRANSIENT_TRANSACTION_ERROR))))
              .map(reply -> withRecoveryToken(transaction, reply));
        });
  }

  private Transaction begunOrContinued(OpMsg command) {
    BsonDocument body = command.body();
    if (body.getBoolean("startTransaction", BsonBoolean.FALSE).getValue()) {
      return transactions.begin(command, readConcern(body));
    }
    Transaction known = transactions.find(command);
    if (known == null) {
      throw Transactions.unknown(command);
    }
    known.nextStatement();
    return known;
  }

  /**
   * Returns the read concern of a transaction. In a snapshot transaction, the read concern has the
   * time at which all shards read.
   */
  private @Nullable BsonDocument readConcern(BsonDocument body) {
    if (!body.isDocument("readConcern")) {
      return null;
    }
    BsonDocument asked = body.getDocument("readConcern");
    return Objects.requireNonNullElse(Snapshots.timed(asked, clock), asked);
  }

  /**
   * Commits. If another router has run the transaction, the shard of the recovery token reports the
   * outcome.
   */
  Mono<BsonDocument> commit(OpMsg command) {
    return Mono.defer(
        () -> {
          BsonDocument token = command.body().getDocument("recoveryToken", new BsonDocument());
          return transactions.find(command) == null && token.isString("recoveryShardId")
              ? transactions.coordinate(
                  token.getString("recoveryShardId").getValue(), command, List.of())
              : transactions.commit(command);
        });
  }

  Mono<BsonDocument> abort(OpMsg command) {
    return transactions.abort(command);
  }

  private static BsonDocument withRecoveryToken(Transaction transaction, BsonDocument reply) {
    BsonDocument token = new BsonDocument();
    String coordinator = transaction.coordinator();
    if (coordinator != null) {
      token.append("recoveryShardId", new BsonString(coordinator));
    }
    BsonDocument copy = new BsonDocument();
    copy.putAll(reply);
    return copy.append("recoveryToken", token);
  }
}
