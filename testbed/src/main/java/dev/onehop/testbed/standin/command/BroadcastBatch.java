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
 * A write command with statements for several shards, or with statements whose shard is unknown.
 *
 * <p>A statement with {@code multi} for several shards goes to all known shards without a version
 * check, as with mongos. A shard that is committing a migration nevertheless refuses the statement,
 * perhaps after it has changed some documents. The router then sends the statement to this shard
 * again. The statement may therefore miss documents of a migrating range or change them twice. It
 * may also change other documents of this shard twice. A shard that was added after the router has
 * read the list of shards does not get the statement. The counts in the reply are the sums of the
 * shards' counts.
 */
final class BroadcastBatch extends WriteBatch {
  private final Transactions transactions;
  private boolean refreshed;

  BroadcastBatch(ShardClient client, Transactions transactions, OpMsg command) {
    super(client, command);
    this.transactions = transactions;
  }

  /** Runs the command. The reply is the same as from one server with all the data. */
  static Mono<BsonDocument> run(
      ShardClient client, Transactions transactions, OpMsg command, String namespace) {
    return Mono.defer(() -> new BroadcastBatch(client, transactions, command).run(namespace));
  }

  @Override
  protected Mono<BsonDocument> attempts(String namespace) {
    if (!isOfTransaction()) {
      return super.attempts(namespace);
    }
    // The changes of one attempt are undone before the next attempt.
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
      // The router may have found these faults because its shard key is outdated. A shard does not
      // report a changed key, so the batch is tried once more with the newest table.
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

  /**
   * Called if a shard refuses the batch because a statement would move its document to another
   * shard. Sends the statements again in smaller parts, to find that statement.
   */
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
    // If the shard has executed the statements before, it replies from its history.
    return toShard(table, shard, indexes.subList(0, half))
        .then(
            Mono.defer(
                () ->
                    isFinal()
                        ? Mono.empty()
                        : toShard(table, shard, indexes.subList(half, indexes.size()))));
  }

  /** Sends an update or a delete without a full shard key. */
  private Mono<Void> broadcast(Target target, int index) {
    Mono<Void> sent =
        WriteTargets.isMulti(command().commandName(), statements().get(index))
            ? toAllConcerned(target, index)
            : toFirstMatch(target.table(), index);
    return sent.doOnSuccess(end -> done(List.of(index)))
        .onErrorResume(failure -> notAnswered(failure, List.of(index)));
  }

  /**
   * Sends a statement to all shards that may own matching documents. In a transaction, the
   * statement carries shard versions. They are safe there, because the transaction's snapshot also
   * contains migrating ranges.
   */
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
   * Sends a statement to every known shard with the version "ignored". The statement then reaches
   * every migrating chunk. A shard that has executed the statement does not get it again.
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
                // The shard may have changed some documents. So only the statement fails. After a
                // failure of the whole command, the driver might send the command again.
                answered();
                fail(List.of(index), refusal.asFailureOf(shard));
                return Mono.empty();
              }
              return notAnswered(failure, List.of(index));
            });
  }

  /**
   * Sends a statement with the version "ignored". A shard refuses it during the commit of a
   * migration, or while it has not loaded its metadata of the collection, as after a restart. The
   * statement then goes again only to this shard, because other shards may have executed it.
   *
   * @return the shard's reply; the error {@link StaleRoute} if the shard also refuses the last
   *     attempt
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
   * Writes one document on an unknown shard. It tries one shard after the other until a shard has
   * the document. Each command has the shard version: if a range has moved, a shard refuses the
   * command, and the search starts again.
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
