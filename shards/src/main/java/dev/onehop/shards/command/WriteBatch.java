package dev.onehop.shards.command;

import dev.onehop.core.table.RoutingTable;
import dev.onehop.shards.cluster.DriverRetries;
import dev.onehop.shards.cluster.StaleRoute;
import dev.onehop.shards.cluster.StaleRoutes;
import dev.onehop.wire.message.CommandFailure;
import dev.onehop.wire.message.ErrorCodes;
import dev.onehop.wire.message.NotSentException;
import dev.onehop.wire.message.OpMsg;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.NavigableSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.IntFunction;
import org.bson.BsonBoolean;
import org.bson.BsonDocument;
import org.bson.RawBsonDocument;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * One insert, update or delete command. Its statements are sent to the shards that own them.
 * Statements that a shard refuses as stale are sent again after a refresh. The replies are merged
 * into one reply, with the indexes of the whole command. The subclass handles statements without a
 * single owner.
 *
 * <p>An ordered batch sends one command for each run of consecutive statements with the same owner.
 * These commands run one after another, up to the first error. An unordered batch sends one command
 * per shard, and the commands run in parallel. The parts of a split batch contain {@code stmtIds},
 * so that a statement keeps its id in the retry history when its chunk moves.
 *
 * <p>A statement with {@code multi} on a single shard is sent with the shard's version. If a
 * migration interrupts the statement, the whole statement is executed again.
 *
 * <p>A failure on one shard is an error of the statements for this shard. The results of the other
 * shards are kept.
 *
 * <p>An instance runs once.
 */
public abstract class WriteBatch {
  /** The most statements in a command, equal to {@code kMaxWriteBatchSize} of the servers. */
  private static final int MAX_SIZE = 100_000;

  private final ShardClient client;
  private final OpMsg command;
  private final List<RawBsonDocument> statements;
  private final boolean ordered;
  private final NavigableSet<Integer> pending = new TreeSet<>();
  private final WriteResult result;
  private boolean answered;
  private @Nullable Throwable unanswered;

  /**
   * @param given an insert, update or delete command
   */
  protected WriteBatch(ShardClient client, OpMsg given) {
    boolean insert = given.commandName().equals("insert");
    this.client = client;
    this.command = insert ? InsertIds.complete(given) : given;
    this.statements = command.documents(StatementLists.field(command.commandName()));
    this.result = new WriteResult(command, statements.size());
    this.ordered = !BsonBoolean.FALSE.equals(command.body().get("ordered"));
    for (int i = 0; i < statements.size(); i++) {
      pending.add(i);
    }
  }

  /** Executes the pending statements, some of which have no single owner. */
  protected abstract Mono<Void> withOthers(BatchTargets placement);

  /**
   * Called when a shard has refused a part because one of its statements would move its document to
   * another shard. The statements of the part before this statement were executed. Those after it
   * were not.
   */
  protected abstract Mono<Void> moves(
      RoutingTable table, String shard, BsonDocument refusal, List<Integer> indexes);

  /** Runs the command. The reply is the same as from a single server that has all the data. */
  public final Mono<BsonDocument> run(String namespace) {
    if (statements.isEmpty() || statements.size() > MAX_SIZE) {
      return Mono.error(
          new CommandFailure(
              ErrorCodes.INVALID_LENGTH,
              "InvalidLength",
              "Write batch sizes must be between 1 and %d. Got %d operations."
                  .formatted(MAX_SIZE, statements.size())));
    }
    return attempts(namespace);
  }

  /** Repeats the attempt until no shard refuses a statement as stale. */
  protected Mono<BsonDocument> attempts(String namespace) {
    return client
        .retryWhileStale(namespace, this::attempt)
        .onErrorResume(this::endBy)
        .then(Mono.defer(this::orNotAnswered));
  }

  /**
   * Ends the batch because of a failure. If some statements were executed, the reply contains the
   * failure as an error of each remaining statement. Otherwise the command fails as a whole.
   */
  private Mono<WriteBatch> endBy(Throwable failure) {
    if (result.isEmpty()) {
      return Mono.error(failure);
    }
    fail(List.copyOf(pending), CommandFailure.from(failure));
    return Mono.just(this);
  }

  /**
   * Returns the reply. If statements have failed and no shard has replied, the command fails as a
   * whole. The driver may then send it again.
   */
  private Mono<BsonDocument> orNotAnswered() {
    return unanswered != null && !answered ? Mono.error(unanswered) : Mono.just(reply());
  }

  /** The reply to the command. */
  public BsonDocument reply() {
    return result.toReply();
  }

  protected final ShardClient client() {
    return client;
  }

  protected final OpMsg command() {
    return command;
  }

  protected final List<RawBsonDocument> statements() {
    return statements;
  }

  /** The indexes of the statements that were not executed and have not failed. */
  protected final List<Integer> pending() {
    return List.copyOf(pending);
  }

  /** Whether the batch is ordered: it ends with the first error. */
  protected final boolean isOrdered() {
    return ordered;
  }

  /** True if no further statement may be sent. */
  protected final boolean isFinal() {
    return result.isFinal(ordered);
  }

  /** The command with some of its statements. */
  protected final OpMsg part(List<Integer> indexes) {
    return StatementLists.part(command, statements, indexes);
  }

  /**
   * Runs a part of the statements. The driver retries only a whole command, so parts are retried
   * here.
   */
  protected final <T> Mono<T> ofPart(Mono<T> sent, List<Integer> indexes) {
    return indexes.size() == statements.size() ? sent : sent.contextWrite(DriverRetries::ofPart);
  }

  /** Records a failure of statements; an ordered batch ends with the first of them. */
  protected final void fail(List<Integer> indexes, CommandFailure why) {
    synchronized (result) {
      indexes.stream()
          .limit(ordered ? 1 : indexes.size())
          .forEach(index -> result.addError(index, why));
      indexes.forEach(pending::remove);
    }
  }

  /** Records that a server has replied, even with an error. */
  protected final void answered() {
    synchronized (result) {
      answered = true;
    }
  }

  /** Adds one shard's reply to a statement that several shards execute. */
  protected final void add(String shard, BsonDocument reply, int index) {
    synchronized (result) {
      answered = true;
      result.add(shard, reply, List.of(index));
    }
  }

  /**
   * Marks statements as executed. Called when all shards with data of these statements have
   * replied.
   */
  protected final void done(List<Integer> indexes) {
    synchronized (result) {
      indexes.forEach(pending::remove);
    }
  }

  /**
   * Sends the pending statements under one table; fails with {@link StaleRoute} if a shard refused
   * some of them as stale.
   */
  protected final Mono<WriteBatch> attempt(RoutingTable table) {
    return Mono.defer(
        () -> {
          BatchTargets placement =
              BatchTargets.of(table, command.commandName(), statements, pending);
          return (placement.isByOwner()
                  ? byOwner(placement, index -> Mono.error(new IllegalStateException("no owner")))
                  : withOthers(placement))
              .thenReturn(this);
        });
  }

  /**
   * Sends each statement to its owner.
   *
   * @param other executes a statement without a single owner
   */
  protected final Mono<Void> byOwner(BatchTargets placement, IntFunction<Mono<Void>> other) {
    return ordered ? inOrder(placement, other) : sideBySide(placement, other);
  }

  /**
   * Sends the runs of statements one after another. The method is a loop, because a batch may have
   * thousands of runs, too many for recursion.
   */
  private Mono<Void> inOrder(BatchTargets placement, IntFunction<Mono<Void>> other) {
    return Mono.defer(() -> nextRun(placement, other))
        .repeat(() -> !pending.isEmpty() && !result.isFinal(true))
        .then();
  }

  private Mono<Void> nextRun(BatchTargets placement, IntFunction<Mono<Void>> other) {
    if (pending.isEmpty()) {
      return Mono.empty();
    }
    int first = pending.first();
    String shard = placement.owner(first);
    if (shard == null) {
      return other.apply(first);
    }
    List<Integer> run = new ArrayList<>();
    for (int index : pending) {
      if (!shard.equals(placement.owner(index))) {
        break;
      }
      run.add(index);
    }
    return toShard(placement.table(), shard, run);
  }

  private Mono<Void> sideBySide(BatchTargets placement, IntFunction<Mono<Void>> other) {
    Map<String, List<Integer>> perShard = new TreeMap<>();
    List<Integer> others = new ArrayList<>();
    for (int index : pending) {
      String shard = placement.owner(index);
      (shard == null ? others : perShard.computeIfAbsent(shard, name -> new ArrayList<>()))
          .add(index);
    }
    return Flux.fromIterable(perShard.entrySet())
        .flatMapDelayError(
            entry -> toShard(placement.table(), entry.getKey(), entry.getValue()),
            Integer.MAX_VALUE,
            1)
        .then()
        // Refusals by several shards arrive as a composite of StaleRoutes.
        .onErrorMap(StaleRoutes::single)
        .then(
            Mono.defer(
                () ->
                    Flux.fromIterable(others)
                        // After an error in a transaction, the transaction has ended, and no
                        // statement is sent.
                        .takeWhile(index -> !(isOfTransaction() && result.isFinal(true)))
                        .concatMap(other::apply)
                        .then()));
  }

  /**
   * Called when the outcome of statements is unknown. Outside of a transaction, the statements for
   * other shards are still executed. A transaction has failed, so none of its further statements is
   * executed.
   */
  protected final Mono<Void> notAnswered(Throwable failure, List<Integer> indexes) {
    if (failure instanceof StaleRoute || isOfTransaction()) {
      return Mono.error(failure);
    }
    synchronized (result) {
      if (unanswered == null || unanswered instanceof NotSentException) {
        // A part that may have been written forbids a retry. Its failure therefore has precedence
        // over the failure of a part that was not sent.
        unanswered = failure;
      }
      fail(indexes, CommandFailure.from(failure));
    }
    return Mono.empty();
  }

  protected final boolean isOfTransaction() {
    return TransactionCommands.isPart(command);
  }

  /**
   * Sends statements to their owner. Executed statements are removed from {@link #pending}, and
   * statements that the shard refused as stale stay there.
   */
  protected final Mono<Void> toShard(RoutingTable table, String shard, List<Integer> indexes) {
    return ofPart(client.send(table, shard, part(indexes)), indexes)
        .switchIfEmpty(Mono.error(() -> new IllegalStateException("no reply from shard " + shard)))
        .flatMap(ShardClient::refuseStale)
        .flatMap(
            answer ->
                WriteResult.movesDocument(answer.document())
                    ? moves(table, shard, answer.document(), indexes)
                    : settle(WriteResult.atShard(shard, answer.document()), indexes))
        .onErrorResume(failure -> notAnswered(failure, indexes));
  }

  /** Adds the reply to a part of the batch, for example to a statement that was sent alone. */
  protected final Mono<Void> settle(BsonDocument reply, List<Integer> indexes) {
    synchronized (result) {
      answered = true;
      List<Integer> stale = result.add(reply, indexes);
      if (!ErrorCodes.ok(reply) || stale.isEmpty()) {
        indexes.forEach(pending::remove);
        return Mono.empty();
      }
      // An ordered batch stops at the first refused statement, so the later statements stay
      // pending, too.
      int firstStale = stale.get(0);
      for (int index : indexes) {
        boolean untried = ordered ? index >= firstStale : stale.contains(index);
        if (!untried) {
          pending.remove(index);
        }
      }
      return Mono.error(new StaleRoute(result.lastRefusal()));
    }
  }
}
