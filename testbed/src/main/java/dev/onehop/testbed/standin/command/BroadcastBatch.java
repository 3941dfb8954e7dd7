package dev.onehop.testbed.standin.command;

import dev.onehop.core.table.RoutingTable;
import dev.onehop.core.targeting.Target;
import dev.onehop.shards.cluster.ReplicaSet.Answer;
import dev.onehop.shards.cluster.StaleRoute;
import dev.onehop.shards.cluster.VersionFormat;
import dev.onehop.shards.command.BatchTargets;
import dev.onehop.shards.command.ShardClient;
import dev.onehop.shards.command.WriteBatch;
import dev.onehop.shards.command.WriteResult;
import dev.onehop.shards.command.WriteTargets;
import dev.onehop.wire.message.CommandFailure;
import dev.onehop.wire.message.OpMsg;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import org.bson.BsonDocument;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * A write command with statements that concern several shards, or that no shard can be told of.
 *
 * <p>A statement with {@code multi} that concerns several shards goes to all that are known,
 * without a version check, as with a mongos. A shard that commits a move refuses it all the same,
 * also part-way, and is sent it again. So a document of a range that moves meanwhile may be missed
 * or changed twice, and one beside it on the same shard changed twice. A shard that joined the
 * cluster since its list was last read, and is not in the table, is not sent it. The counts are the
 * sum of what the shards report.
 */
final class BroadcastBatch extends WriteBatch {
  private final Transactions transactions;
  private boolean refreshed;

  BroadcastBatch(ShardClient client, Transactions transactions, OpMsg command) {
    super(client, command);
    this.transactions = transactions;
  }

  /** Runs the command; the reply is as from one server that has all the data. */
  static Mono<BsonDocument> run(
      ShardClient client, Transactions transactions, OpMsg command, String namespace) {
    return Mono.defer(() -> new BroadcastBatch(client, transactions, command).run(namespace));
  }

  @Override
  protected Mono<BsonDocument> attempts(String namespace) {
    if (!isOfTransaction()) {
      return super.attempts(namespace);
    }
    // What a try has done is left behind by the next.
    return client()
        .retryWhileStale(
            namespace,
            table ->
                transactions.orNothing(
                    command(),
                    new BroadcastBatch(client(), transactions, command()).attempt(table)))
        .map(WriteBatch::reply);
  }

  @Override
  protected Mono<Void> withOthers(BatchTargets placement) {
    if (!placement.faults().isEmpty() && !refreshed) {
      // No shard will say so if the shard key is another one by now.
      refreshed = true;
      return client().newest(placement.table()).flatMap(this::attempt).then();
    }
    if (!isOrdered()) {
      placement.faults().forEach((index, fault) -> fail(List.of(index), fault));
    }
    return byOwner(placement, index -> other(placement, index));
  }

  private Mono<Void> other(BatchTargets placement, int index) {
    CommandFailure fault = placement.faults().get(index);
    return fault == null
        ? broadcast(Objects.requireNonNull(placement.targets().get(index)), index)
        : Mono.fromRunnable(() -> fail(List.of(index), fault));
  }

  /** That statement is found by sending them again in smaller parts. */
  @Override
  protected Mono<Void> moves(
      RoutingTable table, String shard, BsonDocument refusal, List<Integer> indexes) {
    if (isOfTransaction()) {
      return statements().size() > 1
          ? Mono.error(ShardKeyChange.notAlone())
          : ShardKeyChange.move(client(), transactions, command(), table, shard, refusal)
              .flatMap(reply -> settle(reply, indexes));
    }
    if (statements().size() == 1) {
      return settle(refusal, indexes);
    }
    if (indexes.size() == 1) {
      answered();
      fail(indexes, ShardKeyChange.notAlone());
      return Mono.empty();
    }
    int half = indexes.size() / 2;
    // The shard answers from its history where it has done them.
    return toShard(table, shard, indexes.subList(0, half))
        .then(
            Mono.defer(
                () ->
                    isFinal()
                        ? Mono.empty()
                        : toShard(table, shard, indexes.subList(half, indexes.size()))));
  }

  /** A statement that the shard key does not lead to one shard: an update or a delete. */
  private Mono<Void> broadcast(Target target, int index) {
    Mono<Void> sent =
        WriteTargets.isMulti(command().commandName(), statements().get(index))
            ? toAllConcerned(target, index)
            : toFirstMatch(target.table(), index);
    return sent.doOnSuccess(end -> done(List.of(index)))
        .onErrorResume(failure -> notAnswered(failure, List.of(index)));
  }

  /** In a transaction the snapshot sees to what is on the move, so that versions are checked. */
  private Mono<Void> toAllConcerned(Target target, int index) {
    if (!isOfTransaction()) {
      return toEveryShard(target, index);
    }
    OpMsg sub = part(List.of(index));
    return Flux.fromIterable(target.shards())
        .concatMap(
            shard ->
                client()
                    .send(target.table(), shard, sub)
                    .flatMap(ShardClient::refuseStaleStatement)
                    .doOnNext(answer -> add(shard, answer.document(), index)))
        .takeUntil(answer -> isFinal())
        .then();
  }

  /**
   * Every shard that is known under "ignored", so that no chunk on the move is missed. None is sent
   * it again that has answered that it carried it out.
   */
  private Mono<Void> toEveryShard(Target target, int index) {
    OpMsg sub = part(List.of(index));
    Set<String> shards = new TreeSet<>(client().shards().known());
    shards.addAll(target.table().shards());
    return Flux.fromIterable(shards).flatMap(shard -> toOneOfAll(shard, sub, index)).then();
  }

  private Mono<Void> toOneOfAll(String shard, OpMsg sub, int index) {
    return sendIgnoringVersion(shard, sub, 1)
        .doOnNext(answer -> add(shard, answer.document(), index))
        .then()
        .onErrorResume(
            failure -> {
              if (failure instanceof StaleRoute refusal) {
                // It may have changed some documents.
                answered();
                fail(List.of(index), refusal.asFailureOf(shard));
                return Mono.empty();
              }
              return notAnswered(failure, List.of(index));
            });
  }

  /**
   * The shard refuses it all the same while it does not know its part of the collection, as after a
   * restart, or is committing a move. It is sent again then, to this shard alone, for others may
   * have carried it out.
   *
   * @return {@link StaleRoute} when all tries are used up
   */
  private Mono<Answer> sendIgnoringVersion(String shard, OpMsg sub, int tries) {
    return client()
        .send(shard, sub, VersionFormat::ignored)
        .flatMap(ShardClient::refuseStaleStatement)
        .onErrorResume(
            StaleRoute.class,
            stale ->
                tries >= ShardClient.MAX_TRIES
                    ? Mono.error(stale)
                    : Mono.delay(ShardClient.pause(tries))
                        .then(sendIgnoringVersion(shard, sub, tries + 1)));
  }

  /**
   * A write to one document that may lie anywhere: shard after shard until one has it. Each is
   * asked under its version, so that a document on the move is found or the search starts again.
   */
  private Mono<Void> toFirstMatch(RoutingTable table, int index) {
    OpMsg sub = part(List.of(index));
    return Flux.fromIterable(table.shards())
        .concatMap(
            shard ->
                client()
                    .send(table, shard, sub)
                    .flatMap(ShardClient::refuseStaleStatement)
                    .map(
                        answer -> {
                          add(shard, answer.document(), index);
                          return WriteResult.settles(answer.document());
                        }),
            1)
        .filter(Boolean::booleanValue)
        .next()
        .then();
  }
}
