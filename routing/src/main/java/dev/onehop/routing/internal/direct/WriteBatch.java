package dev.onehop.routing.internal.direct;

import dev.onehop.core.table.RoutingTable;
import dev.onehop.core.targeting.Target;
import dev.onehop.routing.internal.direct.shard.CommandFailure;
import dev.onehop.routing.internal.direct.shard.ErrorCodes;
import dev.onehop.routing.internal.direct.shard.ReplicaSet.Answer;
import dev.onehop.routing.internal.direct.shard.StaleRoute;
import dev.onehop.routing.internal.direct.shard.StaleRoutes;
import dev.onehop.routing.internal.wire.OpMsg;
import dev.onehop.routing.internal.wire.OpMsg.Sequence;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.NavigableSet;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.bson.BsonArray;
import org.bson.BsonBoolean;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonValue;
import org.bson.RawBsonDocument;
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
 */
final class WriteBatch {
  private final ShardClient client;
  private final OpMsg command;
  private final String listField;
  private final List<RawBsonDocument> statements;
  private final boolean ordered;
  private final NavigableSet<Integer> pending = new TreeSet<>();
  private final WriteResult result = new WriteResult();
  private boolean refreshed;

  private WriteBatch(ShardClient client, OpMsg command, String listField) {
    this.client = client;
    this.command = command;
    this.listField = listField;
    this.statements = command.documents(listField);
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
              .onErrorResume(CommandFailure.class, batch::endBy)
              .map(WriteResult::toReply);
        });
  }

  /** What was done is told, with the failure as an error of each statement that it has kept. */
  private Mono<WriteResult> endBy(CommandFailure failure) {
    if (result.isEmpty()) {
      return Mono.error(failure);
    }
    pending.stream()
        .limit(ordered ? 1 : pending.size())
        .forEach(index -> result.addError(index, failure));
    return Mono.just(result);
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

  private Mono<WriteResult> inOrder(Placement placement) {
    if (pending.isEmpty()) {
      return Mono.just(result);
    }
    int first = pending.first();
    CommandFailure fault = placement.faults().get(first);
    if (fault != null) {
      result.addError(first, fault);
      return Mono.just(result);
    }
    Target target = placement.targets().get(first);
    if (!target.isSingleShard()) {
      return broadcast(target, first).then(Mono.defer(() -> goOn(placement)));
    }
    List<Integer> run = new ArrayList<>();
    for (int index : pending) {
      Target next = placement.targets().get(index);
      if (next == null || !next.isSingleShard() || !next.shard().equals(target.shard())) {
        break;
      }
      run.add(index);
    }
    return toShard(placement.table(), target.shard(), run).then(Mono.defer(() -> goOn(placement)));
  }

  private Mono<WriteResult> goOn(Placement placement) {
    if (result.isFinal(ordered)) {
      return Mono.just(result);
    }
    return inOrder(placement);
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
                        .concatMap(index -> broadcast(placement.targets().get(index), index))
                        .then()))
        .then(Mono.fromCallable(() -> result));
  }

  /** Statements that one shard owns: applied ones leave {@link #pending}, stale ones stay. */
  private Mono<Void> toShard(RoutingTable table, String shard, List<Integer> indexes) {
    return client
        .send(table, shard, subCommand(indexes))
        .flatMap(ShardClient::refuseStale)
        .flatMap(answer -> settle(answer, indexes));
  }

  private Mono<Void> settle(Answer answer, List<Integer> indexes) {
    synchronized (result) {
      BsonDocument reply = answer.document();
      List<Integer> stale = result.add(reply, indexes);
      if (!ErrorCodes.ok(reply)) {
        pending.clear();
        return Mono.empty();
      }
      if (stale.isEmpty()) {
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
        });
  }

  /** In a transaction the snapshot sees to what is on the move, so that versions are checked. */
  private Mono<Void> toAllConcerned(Target target, int index) {
    if (!Transactions.isPart(command)) {
      return toEveryShard(index);
    }
    OpMsg sub = subCommand(List.of(index));
    return Flux.fromIterable(target.shards())
        .concatMap(
            shard ->
                client.send(target.table(), shard, sub).flatMap(ShardClient::refuseStaleStatement))
        .doOnNext(answer -> result.add(answer.document(), List.of(index)))
        .takeUntil(answer -> result.isFinal(true))
        .then();
  }

  /**
   * Every shard of the cluster under "ignored", so that no chunk on the move is missed. None is
   * sent it again that has carried it out: that would be done twice.
   */
  private Mono<Void> toEveryShard(int index) {
    OpMsg sub = subCommand(List.of(index));
    return client
        .shards()
        .all()
        .flatMapMany(all -> Flux.fromIterable(all.keySet()))
        .flatMap(shard -> toOneOfAll(shard, sub, index))
        .then();
  }

  private Mono<Void> toOneOfAll(String shard, OpMsg sub, int index) {
    return client
        .sendIgnoringVersion(shard, sub)
        .doOnNext(
            answer -> {
              synchronized (result) {
                result.add(answer.document(), List.of(index));
              }
            })
        .then()
        .onErrorResume(
            StaleRoute.class,
            refusal -> {
              synchronized (result) {
                result.addError(index, refusal.asFailureOf(shard));
              }
              return Mono.empty();
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
            shard -> client.send(table, shard, sub).flatMap(ShardClient::refuseStaleStatement), 1)
        .filter(
            answer -> {
              synchronized (result) {
                BsonDocument reply = answer.document();
                result.add(reply, List.of(index));
                return WriteResult.settles(reply);
              }
            })
        .next()
        .then();
  }

  private OpMsg subCommand(List<Integer> indexes) {
    if (indexes.size() == statements.size()) {
      return command;
    }
    BsonDocument body = command.bodyWithout(Set.of(listField, "stmtIds"));
    if (command.body().containsKey("txnNumber") && !Transactions.isPart(command)) {
      body.append("stmtIds", statementIds(indexes));
    }
    List<RawBsonDocument> documents = new ArrayList<>(indexes.size());
    for (int index : indexes) {
      documents.add(statements.get(index));
    }
    return command.withSequences(List.of(new Sequence(listField, documents))).withBody(body);
  }

  private BsonArray statementIds(List<Integer> indexes) {
    BsonValue given = command.body().get("stmtIds");
    BsonArray ids = new BsonArray();
    for (int index : indexes) {
      ids.add(given != null ? given.asArray().get(index) : new BsonInt32(index));
    }
    return ids;
  }
}
