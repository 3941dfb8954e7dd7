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
 * One insert, update or delete command: its statements are sent to the shards that own them, those
 * that a shard refuses as stale again after a refresh, and the answers become one, with the
 * statements' own indexes. What becomes of statements that no single shard owns is up to the
 * subclass.
 *
 * <p>Ordered: runs of statements for the same shard, one after the other, up to the first error.
 * Unordered: a command per shard, side by side. A batch that is split names its statements by
 * {@code stmtIds}, so that each keeps its place in the retry history wherever its chunk moves.
 *
 * <p>A statement with {@code multi} that concerns a single shard is sent under its version, and
 * carried out again as a whole if a move interrupts it.
 *
 * <p>What fails on one shard is an error of its own statements: the other shards' results are kept.
 *
 * <p>Runs once.
 */
public abstract class WriteBatch {
  /** As {@code kMaxWriteBatchSize} of the servers. */
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
   * @param asked insert, update or delete
   */
  protected WriteBatch(ShardClient client, OpMsg asked) {
    boolean insert = asked.commandName().equals("insert");
    this.client = client;
    this.command = insert ? InsertIds.complete(asked) : asked;
    this.statements = command.documents(StatementLists.field(command.commandName()));
    this.result = new WriteResult(command, statements.size());
    this.ordered = !BsonBoolean.FALSE.equals(command.body().get("ordered"));
    for (int i = 0; i < statements.size(); i++) {
      pending.add(i);
    }
  }

  /** Carries out what is pending, some of which no single shard owns. */
  protected abstract Mono<Void> withOthers(BatchTargets placement);

  /**
   * A shard has refused a part because one of its statements would move its document to another
   * shard. Those before it are done, and those after it not tried.
   */
  protected abstract Mono<Void> moves(
      RoutingTable table, String shard, BsonDocument refusal, List<Integer> indexes);

  /** Runs the command; the reply is as from one server that has all the data. */
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

  /** Tries until no shard refuses a statement as stale. */
  protected Mono<BsonDocument> attempts(String namespace) {
    return client
        .retryWhileStale(namespace, this::attempt)
        .onErrorResume(this::endBy)
        .then(Mono.defer(this::orNotAnswered));
  }

  /**
   * The reply holds what was done, with the failure as an error of each statement that is left. If
   * nothing was done, the command fails as a whole.
   */
  private Mono<WriteBatch> endBy(Throwable failure) {
    if (result.isEmpty()) {
      return Mono.error(failure);
    }
    fail(List.copyOf(pending), CommandFailure.from(failure));
    return Mono.just(this);
  }

  /** Where no shard has answered, the command fails as a whole, and a driver may send it again. */
  private Mono<BsonDocument> orNotAnswered() {
    return unanswered != null && !answered ? Mono.error(unanswered) : Mono.just(reply());
  }

  /** The answer to the command. */
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

  /** The indexes of the statements that are neither done nor have failed. */
  protected final List<Integer> pending() {
    return List.copyOf(pending);
  }

  /** Whether it is carried out in order, up to the first error. */
  protected final boolean isOrdered() {
    return ordered;
  }

  /** Whether nothing more may be sent. */
  protected final boolean isFinal() {
    return result.isFinal(ordered);
  }

  /** The command with some of its statements. */
  protected final OpMsg part(List<Integer> indexes) {
    return StatementLists.part(command, statements, indexes);
  }

  /**
   * What sends some of the statements. A part is sent again by us where a driver would do that with
   * the whole.
   */
  protected final <T> Mono<T> ofPart(Mono<T> sent, List<Integer> indexes) {
    return indexes.size() == statements.size() ? sent : sent.contextWrite(DriverRetries::ofPart);
  }

  /** The statements failed; an ordered batch ends with the first of them. */
  protected final void fail(List<Integer> indexes, CommandFailure why) {
    synchronized (result) {
      indexes.stream()
          .limit(ordered ? 1 : indexes.size())
          .forEach(index -> result.addError(index, why));
      indexes.forEach(pending::remove);
    }
  }

  /** A server has answered, be it that it failed. */
  protected final void answered() {
    synchronized (result) {
      answered = true;
    }
  }

  /** Takes in one shard's answer to a statement that is another shard's, too. */
  protected final void add(String shard, BsonDocument reply, int index) {
    synchronized (result) {
      answered = true;
      result.add(shard, reply, List.of(index));
    }
  }

  /** All shards that own something of these statements have answered. */
  protected final void done(List<Integer> indexes) {
    synchronized (result) {
      indexes.forEach(pending::remove);
    }
  }

  /** Sends what is pending under one table; {@link StaleRoute} if some of it was refused. */
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
   * @param other carries out one that no single shard owns
   */
  protected final Mono<Void> byOwner(BatchTargets placement, IntFunction<Mono<Void>> other) {
    return ordered ? inOrder(placement, other) : sideBySide(placement, other);
  }

  /** One run after the other: a loop, since a batch may have thousands. */
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
        // A refusal by several shards arrives as a composite of StaleRoutes.
        .onErrorMap(StaleRoutes::single)
        .then(
            Mono.defer(
                () ->
                    Flux.fromIterable(others)
                        // An error has ended the transaction, and is what has to be told.
                        .takeWhile(index -> !(isOfTransaction() && result.isFinal(true)))
                        .concatMap(other::apply)
                        .then()));
  }

  /**
   * What became of these statements is not known. The other shards go on; in a transaction, which
   * is lost then, they need not.
   */
  protected final Mono<Void> notAnswered(Throwable failure, List<Integer> indexes) {
    if (failure instanceof StaleRoute || isOfTransaction()) {
      return Mono.error(failure);
    }
    synchronized (result) {
      if (unanswered == null || unanswered instanceof NotSentException) {
        // A part that may have been written forbids a retry.
        unanswered = failure;
      }
      fail(indexes, CommandFailure.from(failure));
    }
    return Mono.empty();
  }

  protected final boolean isOfTransaction() {
    return TransactionCommands.isPart(command);
  }

  /** Statements that one shard owns: applied ones leave {@link #pending}, stale ones stay. */
  protected final Mono<Void> toShard(RoutingTable table, String shard, List<Integer> indexes) {
    return ofPart(client.send(table, shard, part(indexes)), indexes)
        .switchIfEmpty(Mono.error(() -> new IllegalStateException("no answer of shard " + shard)))
        .flatMap(ShardClient::refuseStale)
        .flatMap(
            answer ->
                WriteResult.movesDocument(answer.document())
                    ? moves(table, shard, answer.document(), indexes)
                    : settle(WriteResult.atShard(shard, answer.document()), indexes))
        .onErrorResume(failure -> notAnswered(failure, indexes));
  }

  /** Takes in the answer of whoever was sent these statements alone. */
  protected final Mono<Void> settle(BsonDocument reply, List<Integer> indexes) {
    synchronized (result) {
      answered = true;
      List<Integer> stale = result.add(reply, indexes);
      if (!ErrorCodes.ok(reply) || stale.isEmpty()) {
        indexes.forEach(pending::remove);
        return Mono.empty();
      }
      // An ordered batch stops at the refused statement, and later ones were not tried.
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
