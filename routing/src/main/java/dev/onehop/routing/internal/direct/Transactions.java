package dev.onehop.routing.internal.direct;

import dev.onehop.routing.internal.direct.shard.ClusterClock;
import dev.onehop.routing.internal.direct.shard.CommandFailure;
import dev.onehop.routing.internal.direct.shard.ErrorCodes;
import dev.onehop.routing.internal.direct.shard.ReplicaSet;
import dev.onehop.routing.internal.direct.shard.ShardDirectory;
import dev.onehop.routing.internal.direct.shard.StaleRoutes;
import dev.onehop.routing.internal.wire.OpMsg;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.bson.BsonArray;
import org.bson.BsonBinary;
import org.bson.BsonBoolean;
import org.bson.BsonDocument;
import org.bson.BsonDouble;
import org.bson.BsonInt32;
import org.bson.BsonString;
import org.bson.BsonTimestamp;
import org.bson.BsonValue;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * The clients' transactions, and which shards take part in each: a shard's first statement starts
 * the transaction there. One shard commits by itself; with several, the first is told to coordinate
 * the two-phase commit. As mongos does, see {@code src/mongo/s/transaction_router.cpp}.
 *
 * <p>Thread-safe.
 */
final class Transactions {
  private static final int PURGE_ABOVE = 10_000;
  private static final long SESSION_NANOS = Duration.ofMinutes(30).toNanos();

  private static final Set<String> FIRST_STATEMENT_ONLY = Set.of("startTransaction", "readConcern");
  private static final Set<String> ENDS = Set.of("commitTransaction", "abortTransaction");
  // A transaction's commands have to agree on them.
  private static final List<String> OF_ALL_COMMANDS =
      List.of(
          "lsid",
          "txnNumber",
          "autocommit",
          "apiVersion",
          "apiStrict",
          "apiDeprecationErrors",
          "$clusterTime");
  private static final BsonDocument MAJORITY = new BsonDocument("w", new BsonString("majority"));

  private final ShardDirectory shards;
  private final ClusterClock clock;
  // The last transaction of each session.
  private final Map<BsonBinary, Transaction> bySession = new ConcurrentHashMap<>();

  private static final class Transaction {
    private final long number;
    private final @Nullable BsonDocument readConcern;
    private final Set<String> participants = new LinkedHashSet<>();
    // Had started it before the first statement was sent anew under a newer table.
    private final Set<String> abandoned = new LinkedHashSet<>();
    private int statements;
    private volatile long usedNanos = System.nanoTime();

    Transaction(long number, @Nullable BsonDocument readConcern) {
      this.number = number;
      this.readConcern = readConcern;
    }
  }

  Transactions(ShardDirectory shards, ClusterClock clock) {
    this.shards = shards;
    this.clock = clock;
  }

  /** Whether a command belongs to a transaction. */
  static boolean isPart(OpMsg command) {
    return command.body().containsKey("autocommit");
  }

  /** Whether a command of a transaction is its end. */
  static boolean isEnd(OpMsg command) {
    return ENDS.contains(command.commandName());
  }

  /**
   * A failure of one of a transaction's commands, with the labels that the drivers' specification
   * "Transactions" asks for if a server was not reached: after a statement the whole transaction
   * may be tried again; after its end only that, be it at another router.
   */
  static Throwable labelled(OpMsg command, Throwable failure) {
    boolean unreachable = failure instanceof IOException;
    boolean notFound =
        failure instanceof CommandFailure known
            && known.code() == ErrorCodes.FAILED_TO_SATISFY_READ_PREFERENCE;
    if (!isPart(command) || !(unreachable || notFound)) {
      return failure;
    }
    return new CommandFailure(
        unreachable ? ErrorCodes.HOST_UNREACHABLE : ErrorCodes.FAILED_TO_SATISFY_READ_PREFERENCE,
        unreachable ? "HostUnreachable" : "FailedToSatisfyReadPreference",
        String.valueOf(failure.getMessage()),
        switch (command.commandName()) {
          case "commitTransaction" ->
              List.of("RetryableWriteError", "UnknownTransactionCommitResult");
          case "abortTransaction" -> List.of("RetryableWriteError");
          default -> List.of(CommandFailure.TRANSIENT_TRANSACTION_ERROR);
        });
  }

  /** Runs one statement, which is counted, and tells the client where the outcome can be asked. */
  Mono<BsonDocument> statement(OpMsg command, Mono<BsonDocument> run) {
    return Mono.defer(
        () -> {
          Transaction transaction = begunOrContinued(command.body());
          return run.map(reply -> withRecoveryToken(transaction, reply));
        });
  }

  private Transaction begunOrContinued(BsonDocument body) {
    long number = body.getNumber("txnNumber").longValue();
    if (body.getBoolean("startTransaction", BsonBoolean.FALSE).getValue()) {
      purge();
      Transaction started = new Transaction(number, readConcern(body));
      started.statements = 1;
      bySession.put(session(body), started);
      return started;
    }
    Transaction known = find(body);
    if (known == null) {
      throw unknown(number);
    }
    synchronized (known) {
      known.statements++;
    }
    return known;
  }

  /** Makes a command one of the transaction that a statement belongs to. */
  static BsonDocument another(BsonDocument command, OpMsg statement) {
    BsonDocument body = statement.body();
    OF_ALL_COMMANDS.stream()
        .filter(body::containsKey)
        .forEach(field -> command.append(field, body.get(field)));
    return command;
  }

  /** The end of the transaction that a statement belongs to. */
  static OpMsg end(String name, OpMsg statement) {
    return OpMsg.command(
        another(new BsonDocument(name, new BsonInt32(1)), statement)
            .append("$db", new BsonString("admin")));
  }

  /**
   * Ends at a shard what was begun there under an older table: a shard that is in the middle of a
   * transaction does not begin it anew.
   */
  Mono<Void> tidied(OpMsg command, String shard) {
    Transaction transaction = find(command.body());
    if (transaction == null) {
      return Mono.empty();
    }
    synchronized (transaction) {
      if (!transaction.abandoned.contains(shard)) {
        return Mono.empty();
      }
    }
    return abortAt(List.of(shard), end("abortTransaction", command).body())
        .then()
        .onErrorComplete();
  }

  /** A statement as a shard is to get it, which takes part from now on. */
  OpMsg forShard(OpMsg command, String shard) {
    Transaction transaction = find(command.body());
    if (transaction == null) {
      throw unknown(command.body().getNumber("txnNumber").longValue());
    }
    BsonDocument body = command.bodyWithout(FIRST_STATEMENT_ONLY);
    synchronized (transaction) {
      if (transaction.participants.add(shard)) {
        transaction.abandoned.remove(shard);
        body.append("startTransaction", BsonBoolean.TRUE);
        if (transaction.participants.size() == 1) {
          body.append("coordinator", BsonBoolean.TRUE);
        }
        if (transaction.readConcern != null) {
          body.append("readConcern", transaction.readConcern);
          clock.gossip(body);
        }
      }
    }
    return command.withBody(body);
  }

  /**
   * A shard refused a statement as stale. The first statement of a transaction can be sent anew, as
   * nothing was done before; a later one fails.
   */
  void refused(OpMsg command) {
    Transaction transaction = find(command.body());
    if (transaction == null) {
      return;
    }
    synchronized (transaction) {
      if (transaction.statements > 1) {
        throw new CommandFailure(
            ErrorCodes.NO_SUCH_TRANSACTION,
            "NoSuchTransaction",
            "Transaction "
                + transaction.number
                + " was aborted as its data has moved to another shard",
            List.of(CommandFailure.TRANSIENT_TRANSACTION_ERROR));
      }
      transaction.abandoned.addAll(transaction.participants);
      transaction.participants.clear();
    }
  }

  Mono<BsonDocument> commit(OpMsg command) {
    return Mono.defer(
        () -> {
          BsonDocument body = command.body();
          Transaction transaction = find(body);
          if (transaction == null) {
            return recover(body);
          }
          List<String> participants = participants(transaction);
          Mono<Void> tidied = abortAt(List.copyOf(transaction.abandoned), body).then();
          return switch (participants.size()) {
            case 0 -> tidied.thenReturn(ok());
            case 1 ->
                tidied.then(send(participants.get(0), ended("commitTransaction", body, true)));
            default ->
                tidied.then(
                    send(
                        participants.get(0),
                        ended("coordinateCommitTransaction", body, true)
                            .append("participants", participantList(participants))));
          };
        });
  }

  Mono<BsonDocument> abort(OpMsg command) {
    return Mono.defer(
        () -> {
          Transaction transaction = find(command.body());
          if (transaction == null) {
            throw unknown(command.body().getNumber("txnNumber").longValue());
          }
          List<String> everywhere = new ArrayList<>(participants(transaction));
          everywhere.addAll(transaction.abandoned);
          return abortAt(everywhere, command.body())
              .collectList()
              .map(
                  replies ->
                      replies.stream()
                          .filter(reply -> !ErrorCodes.ok(reply))
                          .findFirst()
                          .orElseGet(Transactions::ok));
        });
  }

  private Flux<BsonDocument> abortAt(List<String> where, BsonDocument body) {
    return Flux.fromIterable(where)
        .flatMapDelayError(
            shard -> send(shard, ended("abortTransaction", body, false)), Integer.MAX_VALUE, 1)
        .onErrorMap(StaleRoutes::single);
  }

  /** Another router has run the transaction: its recovery shard knows, or decides, the outcome. */
  private Mono<BsonDocument> recover(BsonDocument body) {
    BsonDocument token = body.getDocument("recoveryToken", new BsonDocument());
    return token.isString("recoveryShardId")
        ? send(
            token.getString("recoveryShardId").getValue(),
            ended("coordinateCommitTransaction", body, true)
                .append("participants", new BsonArray()))
        : Mono.error(unknown(body.getNumber("txnNumber").longValue()));
  }

  private Mono<BsonDocument> send(String shard, BsonDocument command) {
    return shards
        .shard(shard)
        .flatMap(replicaSet -> replicaSet.send(OpMsg.command(command)))
        .map(ReplicaSet.Answer::document);
  }

  private static BsonDocument ended(String name, BsonDocument from, boolean commit) {
    BsonDocument command = new BsonDocument(name, new BsonInt32(1));
    from.forEach(
        (field, value) -> {
          if (!field.equals("recoveryToken") && !field.equals(from.getFirstKey())) {
            command.append(field, value);
          }
        });
    if (commit && !command.containsKey("writeConcern")) {
      command.append("writeConcern", MAJORITY);
    }
    return command;
  }

  private static List<String> participants(Transaction transaction) {
    synchronized (transaction) {
      return List.copyOf(transaction.participants);
    }
  }

  private static BsonArray participantList(List<String> participants) {
    return new BsonArray(
        participants.stream()
            .map(shard -> new BsonDocument("shardId", new BsonString(shard)))
            .toList());
  }

  private static BsonDocument withRecoveryToken(Transaction transaction, BsonDocument reply) {
    BsonDocument token = new BsonDocument();
    synchronized (transaction) {
      if (!transaction.participants.isEmpty()) {
        token.append("recoveryShardId", new BsonString(transaction.participants.iterator().next()));
      }
    }
    BsonDocument copy = new BsonDocument();
    copy.putAll(reply);
    return copy.append("recoveryToken", token);
  }

  /** All shards read at one time in a snapshot transaction. */
  private @Nullable BsonDocument readConcern(BsonDocument body) {
    if (!body.isDocument("readConcern")) {
      return null;
    }
    BsonDocument asked = body.getDocument("readConcern");
    return Objects.requireNonNullElse(Snapshots.timed(asked, clock), asked);
  }

  private @Nullable Transaction find(BsonDocument body) {
    Transaction last = bySession.get(session(body));
    if (last == null || last.number != body.getNumber("txnNumber").longValue()) {
      return null;
    }
    last.usedNanos = System.nanoTime();
    return last;
  }

  private void purge() {
    if (bySession.size() > PURGE_ABOVE) {
      long now = System.nanoTime();
      bySession.values().removeIf(each -> now - each.usedNanos > SESSION_NANOS);
    }
  }

  private static BsonBinary session(BsonDocument body) {
    return body.getDocument("lsid").getBinary("id");
  }

  private static BsonDocument ok() {
    return new BsonDocument("ok", new BsonDouble(1));
  }

  private static CommandFailure unknown(long number) {
    return new CommandFailure(
        ErrorCodes.NO_SUCH_TRANSACTION,
        "NoSuchTransaction",
        "cannot continue txnId " + number + ", which was not started at this router",
        List.of(CommandFailure.TRANSIENT_TRANSACTION_ERROR));
  }

  /** Reads of several shards as of one moment. */
  static final class Snapshots {
    private static final BsonString SNAPSHOT = new BsonString("snapshot");

    private Snapshots() {}

    static boolean isAsked(OpMsg command) {
      return command.body().get("readConcern") instanceof BsonDocument readConcern
          && SNAPSHOT.equals(readConcern.get("level"));
    }

    /**
     * The read concern with a time; null unless it asks for a snapshot and leaves the time open.
     */
    static @Nullable BsonDocument timed(BsonDocument readConcern, ClusterClock clock) {
      BsonDocument clusterTime = clock.clusterTime();
      if (!SNAPSHOT.equals(readConcern.get("level"))
          || readConcern.containsKey("atClusterTime")
          || clusterTime == null) {
        return null;
      }
      BsonTimestamp time = ClusterClock.time(clusterTime);
      BsonDocument fixed = new BsonDocument();
      for (Map.Entry<String, BsonValue> field : readConcern.entrySet()) {
        if (!field.getKey().equals("afterClusterTime")) {
          fixed.append(field.getKey(), field.getValue());
        } else if (field.getValue().asTimestamp().compareTo(time) > 0) {
          time = field.getValue().asTimestamp();
        }
      }
      return fixed.append("atClusterTime", time);
    }
  }
}
