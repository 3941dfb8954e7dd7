package dev.onehop.testbed.standin.command;

import dev.onehop.shards.cluster.ClusterClock;
import dev.onehop.shards.cluster.ReplicaSet;
import dev.onehop.shards.cluster.ShardDirectory;
import dev.onehop.shards.cluster.StaleRoute;
import dev.onehop.shards.cluster.StaleRoutes;
import dev.onehop.shards.command.ShardClient;
import dev.onehop.wire.message.CommandFailure;
import dev.onehop.wire.message.ErrorCodes;
import dev.onehop.wire.message.OpMsg;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
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
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * The clients' transactions. This class records the participating shards of each transaction. A
 * shard's first statement starts the transaction on that shard. A single participant commits by
 * itself. With several participants, the first shard coordinates the two-phase commit. A mongos
 * does the same: see {@code src/mongo/s/transaction_router.cpp}.
 *
 * <p>Thread-safe.
 */
public final class Transactions implements ShardClient.Participation {
  private static final int PURGE_ABOVE = 10_000;
  private static final long SESSION_NANOS = Duration.ofMinutes(30).toNanos();

  private static final Set<String> FIRST_STATEMENT_ONLY = Set.of("startTransaction", "readConcern");
  // The fields that are copied from a statement to other commands of its transaction.
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

  /** A transaction. Thread-safe. */
  public static final class Transaction {
    private final long number;
    private final @Nullable BsonDocument readConcern;
    private final Set<String> participants = new LinkedHashSet<>();
    // The shards on which an earlier attempt of the first statement has started the transaction.
    private final Set<String> abandoned = new LinkedHashSet<>();
    private int statements;
    private volatile long usedNanos = System.nanoTime();

    Transaction(long number, @Nullable BsonDocument readConcern) {
      this.number = number;
      this.readConcern = readConcern;
    }

    /** The time at which all shards read; null if each shard reads its latest data. */
    public @Nullable BsonTimestamp snapshotTime() {
      return readConcern == null ? null : readConcern.getTimestamp("atClusterTime", null);
    }

    /**
     * Counts another statement. From the second statement on, the transaction cannot start again.
     */
    public synchronized void nextStatement() {
      statements++;
    }

    /** The shard that can report the outcome; null if there is no participant yet. */
    public synchronized @Nullable String coordinator() {
      return participants.isEmpty() ? null : participants.iterator().next();
    }
  }

  public Transactions(ShardDirectory shards, ClusterClock clock) {
    this.shards = shards;
    this.clock = clock;
  }

  /**
   * Starts a transaction, which replaces the last transaction of its session.
   *
   * @param statement the first statement of the transaction
   * @param readConcern the read concern for all shards; null for the shards' default
   */
  public Transaction begin(OpMsg statement, @Nullable BsonDocument readConcern) {
    purge();
    BsonDocument body = statement.body();
    Transaction started = new Transaction(body.getNumber("txnNumber").longValue(), readConcern);
    started.nextStatement();
    bySession.put(session(body), started);
    return started;
  }

  /**
   * Returns the transaction of a command. Null if the transaction was not started at this router.
   */
  public @Nullable Transaction find(OpMsg command) {
    BsonDocument body = command.body();
    Transaction last = bySession.get(session(body));
    if (last == null || last.number != body.getNumber("txnNumber").longValue()) {
      return null;
    }
    last.usedNanos = System.nanoTime();
    return last;
  }

  /** Adds the transaction fields of a statement to another command, and returns that command. */
  static BsonDocument another(BsonDocument command, OpMsg statement) {
    BsonDocument body = statement.body();
    OF_ALL_COMMANDS.stream()
        .filter(body::containsKey)
        .forEach(field -> command.append(field, body.get(field)));
    return command;
  }

  /** Returns the command that ends the transaction of a statement. */
  static OpMsg end(String name, OpMsg statement) {
    return OpMsg.command(
        another(new BsonDocument(name, new BsonInt32(1)), statement)
            .append("$db", new BsonString("admin")));
  }

  /**
   * Aborts the transaction on a shard if an earlier attempt has started it there. Otherwise the
   * next attempt would fail, because a shard does not start a running transaction again.
   */
  private Mono<Void> tidied(OpMsg command, String shard) {
    Transaction transaction = find(command);
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

  @Override
  public Mono<OpMsg> joined(OpMsg command, String shard) {
    return tidied(command, shard).then(Mono.fromCallable(() -> forShard(command, shard)));
  }

  private OpMsg forShard(OpMsg command, String shard) {
    Transaction transaction = find(command);
    if (transaction == null) {
      throw unknown(command);
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
   * Called if a shard refuses a statement because its shard version is stale. The first statement
   * of a transaction can be sent again, because the transaction has changed nothing before it. A
   * later statement fails, with the refusal as cause.
   */
  @Override
  public void refused(OpMsg command, StaleRoute refusal) {
    Transaction transaction = find(command);
    if (transaction == null) {
      return;
    }
    synchronized (transaction) {
      if (transaction.statements > 1) {
        CommandFailure aborted =
            new CommandFailure(
                ErrorCodes.NO_SUCH_TRANSACTION,
                "NoSuchTransaction",
                "Transaction "
                    + transaction.number
                    + " was aborted because its data has moved to another shard",
                List.of(CommandFailure.TRANSIENT_TRANSACTION_ERROR));
        aborted.initCause(refusal);
        throw aborted;
      }
      transaction.abandoned.addAll(transaction.participants);
      transaction.participants.clear();
    }
  }

  /**
   * Runs a statement of a transaction on several shards. If one shard refuses the statement as
   * stale, the whole statement can run again, after its changes on the other shards are undone. If
   * the transaction has earlier statements, the transaction fails instead.
   */
  <T> Mono<T> orNothing(OpMsg command, Mono<T> run) {
    return run.onErrorResume(
        StaleRoute.class,
        stale -> {
          refused(command, stale);
          return Mono.error(stale);
        });
  }

  /**
   * Commits at all participating shards. Fails if the transaction was not started at this router.
   */
  public Mono<BsonDocument> commit(OpMsg command) {
    return Mono.defer(
        () -> {
          Transaction transaction = find(command);
          if (transaction == null) {
            throw unknown(command);
          }
          List<String> participants = participants(transaction);
          Mono<Void> tidied = abortAt(abandoned(transaction), command.body()).then();
          return switch (participants.size()) {
            case 0 -> tidied.thenReturn(ok());
            case 1 ->
                tidied.then(
                    send(participants.get(0), ended("commitTransaction", command.body(), true)));
            default -> tidied.then(coordinate(participants.get(0), command, participants));
          };
        });
  }

  /**
   * Lets a shard coordinate the commit of a transaction, or report its outcome.
   *
   * @param participants the participating shards; empty if only the coordinating shard has their
   *     list
   */
  public Mono<BsonDocument> coordinate(String shard, OpMsg commit, List<String> participants) {
    return send(
        shard,
        ended("coordinateCommitTransaction", commit.body(), true)
            .append("participants", participantList(participants)));
  }

  /**
   * Aborts at all participating shards. Fails if the transaction was not started at this router.
   */
  public Mono<BsonDocument> abort(OpMsg command) {
    return Mono.defer(
        () -> {
          Transaction transaction = find(command);
          if (transaction == null) {
            throw unknown(command);
          }
          List<String> everywhere = new ArrayList<>(participants(transaction));
          everywhere.addAll(abandoned(transaction));
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

  private static List<String> abandoned(Transaction transaction) {
    synchronized (transaction) {
      return List.copyOf(transaction.abandoned);
    }
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

  /** Returns the error for a command of a transaction that was not started at this router. */
  public static CommandFailure unknown(OpMsg command) {
    return new CommandFailure(
        ErrorCodes.NO_SUCH_TRANSACTION,
        "NoSuchTransaction",
        "cannot continue txnId "
            + command.body().getNumber("txnNumber").longValue()
            + ", which was not started at this router",
        List.of(CommandFailure.TRANSIENT_TRANSACTION_ERROR));
  }
}
