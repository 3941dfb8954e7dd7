package dev.onehop.shards.command;

import dev.onehop.core.table.RoutingTable;
import dev.onehop.core.targeting.Target;
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
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.bson.BsonBoolean;
import org.bson.BsonDocument;
import org.bson.RawBsonDocument;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * One insert, update or delete command: its statements are sent to the shards that own them, those
 * that a shard refuses as stale again after a refresh, and the answers become one, with the
 * statements' own indexes.
 *
 * <p>Ordered: runs of statements for the same shard, one after the other, up to the first error.
 * Unordered: a command per shard, side by side. A batch that is split names its statements by
 * {@code stmtIds}, so that each keeps its place in the retry history wherever its chunk moves.
 *
 * <p>A statement with {@code multi} that concerns several shards goes to all that are known,
 * without a version check, as with a mongos. A shard that commits a move refuses it all the same,
 * also part-way, and is sent it again. So a document of a range that moves meanwhile may be missed
 * or changed twice, and one beside it on the same shard changed twice. One that concerns a single
 * shard is sent under its version, and carried out again as a whole if a move interrupts it. A
 * shard that joined the cluster since its list was last read, and is not in the table, is not sent
 * it. The counts are the sum of what the shards report.
 *
 * <p>What fails on one shard is an error of its own statements: the other shards' results are kept.
 */
final class WriteBatch {
  /** As {@code kMaxWriteBatchSize} of the servers. */
  private static final int MAX_SIZE = 100_000;

  private final ShardClient client;
  private final OpMsg command;
  private final List<RawBsonDocument> statements;
  private final boolean ordered;
  private final NavigableSet<Integer> pending = new TreeSet<>();
  private final WriteResult result;
  private boolean refreshed;
  private boolean answered;
  private @Nullable Throwable unanswered;

  private WriteBatch(ShardClient client, OpMsg command, String listField) {
    this.client = client;
    this.command = command;
    this.statements = command.documents(listField);
    this.result = new WriteResult(command, statements.size());
    this.ordered = command.body().getBoolean("ordered", BsonBoolean.TRUE).getValue();
    for (int i = 0; i < statements.size(); i++) {
      pending.add(i);
    }
  }

  /** Runs the command; the reply is as from one server that has all the data. */
  static Mono<BsonDocument> run(ShardClient client, OpMsg asked, String namespace) {
    return switch (asked.commandName()) {
      case "insert" -> run(client, InsertIds.complete(asked), "documents", namespace);
      case "update" -> run(client, asked, "updates", namespace);
      default -> run(client, asked, "deletes", namespace);
    };
  }

  private static Mono<BsonDocument> run(
      ShardClient client, OpMsg command, String list, String namespace) {
    int size = command.documents(list).size();
    if (size < 1 || size > MAX_SIZE) {
      return Mono.error(
          new CommandFailure(
              ErrorCodes.INVALID_LENGTH,
              "InvalidLength",
              "Write batch sizes must be between 1 and %d. Got %d operations."
                  .formatted(MAX_SIZE, size)));
    }
    if (Transactions.isPart(command)) {
      // What a try has done is left behind by the next.
      return client
          .retryWhileStale(
              namespace,
              table ->
                  client.orNothing(command, new WriteBatch(client, command, list).attempt(table)))
          .map(WriteResult::toReply);
    }
    return Mono.defer(
        () -> {
          WriteBatch batch = new WriteBatch(client, command, list);
          return client
              .retryWhileStale(namespace, batch::attempt)
              .onErrorResume(batch::endBy)
              .flatMap(done -> batch.orNotAnswered())
              .map(WriteResult::toReply);
        });
  }

  /**
   * The reply holds what was done, with the failure as an error of each statement that is left. If
   * nothing was done, the command fails as a whole.
   */
  private Mono<WriteResult> endBy(Throwable failure) {
    if (result.isEmpty()) {
      return Mono.error(failure);
    }
    fail(List.copyOf(pending), CommandFailure.from(failure));
    return Mono.just(result);
  }

  /** Where no shard has answered, the command fails as a whole, and a driver may send it again. */
  private Mono<WriteResult> orNotAnswered() {
    return unanswered != null && !answered ? Mono.error(unanswered) : Mono.just(result);
  }

  /** The statements failed; an ordered batch ends with the first of them. */
  private void fail(List<Integer> indexes, CommandFailure why) {
    synchronized (result) {
      indexes.stream()
          .limit(ordered ? 1 : indexes.size())
          .forEach(index -> result.addError(index, why));
      indexes.forEach(pending::remove);
    }
  }

  /** Sends what is pending under one table; {@link StaleRoute} if some of it was refused. */
  private Mono<WriteResult> attempt(RoutingTable table) {
    return Mono.defer(
        () -> {
          Placement placement = Placement.of(table, command.commandName(), statements, pending);
          if (!placement.faults().isEmpty() && !refreshed) {
            // No shard will say so if the shard key is another one by now.
            refreshed = true;
            return client.newest(table).flatMap(this::attempt);
          }
          return ordered ? inOrder(placement) : sideBySide(placement);
        });
  }

  /** One run after the other: a loop, since a batch may have thousands. */
  private Mono<WriteResult> inOrder(Placement placement) {
    return Mono.defer(() -> nextRun(placement))
        .repeat(() -> !pending.isEmpty() && !result.isFinal(true))
        .then(Mono.fromCallable(() -> result));
  }

  private Mono<Void> nextRun(Placement placement) {
    if (pending.isEmpty()) {
      return Mono.empty();
    }
    int first = pending.first();
    CommandFailure fault = placement.faults().get(first);
    if (fault != null) {
      result.addError(first, fault);
      return Mono.empty();
    }
    Target target = Objects.requireNonNull(placement.targets().get(first));
    if (!target.isSingleShard()) {
      return broadcast(target, first);
    }
    List<Integer> run = new ArrayList<>();
    for (int index : pending) {
      Target next = placement.targets().get(index);
      if (next == null || !next.isSingleShard() || !next.shard().equals(target.shard())) {
        break;
      }
      run.add(index);
    }
    return toShard(placement.table(), target.shard(), run);
  }

  private Mono<WriteResult> sideBySide(Placement placement) {
    placement.faults().forEach(result::addError);
    pending.removeAll(placement.faults().keySet());
    Map<String, List<Integer>> perShard = new TreeMap<>();
    List<Integer> others = new ArrayList<>();
    placement
        .targets()
        .forEach(
            (index, target) -> {
              if (target.isSingleShard()) {
                perShard.computeIfAbsent(target.shard(), shard -> new ArrayList<>()).add(index);
              } else {
                others.add(index);
              }
            });
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
                        .takeWhile(index -> !(Transactions.isPart(command) && result.isFinal(true)))
                        .concatMap(
                            index ->
                                broadcast(
                                    Objects.requireNonNull(placement.targets().get(index)), index))
                        .then()))
        .then(Mono.fromCallable(() -> result));
  }

  /**
   * What became of these statements is not known. The other shards go on; in a transaction, which
   * is lost then, they need not.
   */
  private Mono<Void> notAnswered(Throwable failure, List<Integer> indexes) {
    if (failure instanceof StaleRoute || Transactions.isPart(command)) {
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

  /** Statements that one shard owns: applied ones leave {@link #pending}, stale ones stay. */
  private Mono<Void> toShard(RoutingTable table, String shard, List<Integer> indexes) {
    return client
        .send(table, shard, subCommand(indexes))
        .switchIfEmpty(Mono.error(() -> new IllegalStateException("no answer of shard " + shard)))
        .flatMap(ShardClient::refuseStale)
        .flatMap(
            answer ->
                ShardKeyChange.movesDocument(answer.document())
                    ? changeOwner(table, shard, answer.document(), indexes)
                    : settle(shard, answer.document(), indexes))
        .onErrorResume(failure -> notAnswered(failure, indexes));
  }

  /**
   * One of the statements would move its document to another shard. Those before it are done, and
   * those after it not tried: it is found by sending them again in smaller parts, which the shard
   * answers from its history where it has done them.
   */
  private Mono<Void> changeOwner(
      RoutingTable table, String shard, BsonDocument refusal, List<Integer> indexes) {
    if (Transactions.isPart(command)) {
      return statements.size() > 1
          ? Mono.error(ShardKeyChange.notAlone())
          : ShardKeyChange.move(client, command, table, shard, refusal)
              .flatMap(reply -> settle(shard, reply, indexes));
    }
    if (statements.size() == 1) {
      return settle(shard, refusal, indexes);
    }
    if (indexes.size() == 1) {
      synchronized (result) {
        answered = true;
        fail(indexes, ShardKeyChange.notAlone());
      }
      return Mono.empty();
    }
    int half = indexes.size() / 2;
    return toShard(table, shard, indexes.subList(0, half))
        .then(
            Mono.defer(
                () ->
                    result.isFinal(ordered)
                        ? Mono.empty()
                        : toShard(table, shard, indexes.subList(half, indexes.size()))));
  }

  private Mono<Void> settle(String shard, BsonDocument reply, List<Integer> indexes) {
    synchronized (result) {
      answered = true;
      List<Integer> stale = result.add(shard, reply, indexes);
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

  /** A statement that the shard key does not lead to one shard: an update or a delete. */
  private Mono<Void> broadcast(Target target, int index) {
    Mono<Void> sent =
        WriteTargets.isMulti(command.commandName(), statements.get(index))
            ? toAllConcerned(target, index)
            : toFirstMatch(target.table(), index);
    return sent.doOnSuccess(
            done -> {
              synchronized (result) {
                pending.remove(index);
              }
            })
        .onErrorResume(failure -> notAnswered(failure, List.of(index)));
  }

  /** In a transaction the snapshot sees to what is on the move, so that versions are checked. */
  private Mono<Void> toAllConcerned(Target target, int index) {
    if (!Transactions.isPart(command)) {
      return toEveryShard(target, index);
    }
    OpMsg sub = subCommand(List.of(index));
    return Flux.fromIterable(target.shards())
        .concatMap(
            shard ->
                client
                    .send(target.table(), shard, sub)
                    .flatMap(ShardClient::refuseStaleStatement)
                    .doOnNext(answer -> result.add(shard, answer.document(), List.of(index))))
        .takeUntil(answer -> result.isFinal(true))
        .then();
  }

  /**
   * Every shard that is known under "ignored", so that no chunk on the move is missed. None is sent
   * it again that has answered that it carried it out.
   */
  private Mono<Void> toEveryShard(Target target, int index) {
    OpMsg sub = subCommand(List.of(index));
    Set<String> shards = new TreeSet<>(client.shards().known());
    shards.addAll(target.table().shards());
    return Flux.fromIterable(shards).flatMap(shard -> toOneOfAll(shard, sub, index)).then();
  }

  private Mono<Void> toOneOfAll(String shard, OpMsg sub, int index) {
    return client
        .sendIgnoringVersion(shard, sub)
        .doOnNext(
            answer -> {
              synchronized (result) {
                answered = true;
                result.add(shard, answer.document(), List.of(index));
              }
            })
        .then()
        .onErrorResume(
            failure -> {
              if (failure instanceof StaleRoute refusal) {
                synchronized (result) {
                  // It may have changed some documents.
                  answered = true;
                }
                fail(List.of(index), refusal.asFailureOf(shard));
                return Mono.empty();
              }
              return notAnswered(failure, List.of(index));
            });
  }

  /**
   * A write to one document that may lie anywhere: shard after shard until one has it. Each is
   * asked under its version, so that a document on the move is found or the search starts again.
   */
  private Mono<Void> toFirstMatch(RoutingTable table, int index) {
    OpMsg sub = subCommand(List.of(index));
    return Flux.fromIterable(table.shards())
        .concatMap(
            shard ->
                client
                    .send(table, shard, sub)
                    .flatMap(ShardClient::refuseStaleStatement)
                    .map(answer -> settles(shard, answer.document(), index)),
            1)
        .filter(Boolean::booleanValue)
        .next()
        .then();
  }

  /** Whether the shard has found the document, or failed. */
  private boolean settles(String shard, BsonDocument reply, int index) {
    synchronized (result) {
      answered = true;
      result.add(shard, reply, List.of(index));
      return WriteResult.settles(reply);
    }
  }

  private OpMsg subCommand(List<Integer> indexes) {
    return StatementLists.part(command, statements, indexes);
  }
}
