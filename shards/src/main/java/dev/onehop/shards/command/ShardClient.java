package dev.onehop.shards.command;

import dev.onehop.core.table.RoutingTable;
import dev.onehop.shards.catalog.RoutingCatalog;
import dev.onehop.shards.cluster.ReplicaSet;
import dev.onehop.shards.cluster.ReplicaSet.Answer;
import dev.onehop.shards.cluster.ShardDirectory;
import dev.onehop.shards.cluster.StaleRoute;
import dev.onehop.shards.cluster.VersionFormat;
import dev.onehop.shards.cluster.Versions;
import dev.onehop.shards.request.CommandTrace;
import dev.onehop.wire.message.ErrorCodes;
import dev.onehop.wire.message.OpMsg;
import java.time.Duration;
import java.util.function.Function;
import org.bson.BsonArray;
import org.bson.BsonDocument;
import org.bson.BsonValue;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * Sends versioned commands to shards. When a shard refuses a command as stale, this client
 * refreshes the table and decides again. It makes at most {@value #MAX_TRIES} attempts, as mongos
 * does.
 *
 * <p>Thread-safe.
 */
public final class ShardClient {
  /** As {@code kMaxNumStaleVersionRetries} of mongos. */
  public static final int MAX_TRIES = 10;

  private static final Duration FIRST_PAUSE = Duration.ofMillis(2);

  /**
   * The longest wait for a refresh in {@link #newest}. If the refresh takes longer, the caller
   * continues with the old table, and later operations use the new one.
   */
  private static final Duration NEWEST_TIMEOUT = Duration.ofSeconds(1);

  private final RoutingCatalog catalog;
  private final ShardDirectory shards;
  private final ClusterCheck clusterCheck;
  private final DefaultConcerns concerns;
  private final Versions versions;
  private final @Nullable Participation transactions;

  /**
   * Adds shards to transactions. A caller that coordinates transactions itself implements this
   * interface, which must be thread-safe.
   */
  public interface Participation {
    /** Adds a shard to a command's transaction, and returns the command for this shard. */
    Mono<OpMsg> joined(OpMsg command, String shard);

    /**
     * Called when a shard has refused a command as stale.
     *
     * @throws RuntimeException if the refusal ends the transaction
     */
    void refused(OpMsg command, StaleRoute refusal);
  }

  ShardClient(
      RoutingCatalog catalog,
      ShardDirectory shards,
      ClusterCheck clusterCheck,
      DefaultConcerns concerns,
      Versions versions,
      @Nullable Participation transactions) {
    this.catalog = catalog;
    this.shards = shards;
    this.clusterCheck = clusterCheck;
    this.concerns = concerns;
    this.versions = versions;
    this.transactions = transactions;
  }

  /**
   * Returns a client with the same connections and tables, for a caller that coordinates
   * transactions itself.
   */
  public ShardClient with(Participation own) {
    return new ShardClient(catalog, shards, clusterCheck, concerns, versions, own);
  }

  public ShardDirectory shards() {
    return shards;
  }

  /** The replica set of a shard, once the shard has passed the checks for a command. */
  public Mono<ReplicaSet> shard(String id, OpMsg command) {
    return shards
        .shard(id)
        .flatMap(replicaSet -> clusterCheck.passed(id, replicaSet, command).thenReturn(replicaSet));
  }

  /** Sends a command to a shard, with the version of a table. */
  public Mono<Answer> send(RoutingTable table, String shard, OpMsg command) {
    return send(shard, command, format -> versions.of(format, table, shard));
  }

  /** Sends a command to a shard, with a version. */
  public Mono<Answer> send(
      String shard, OpMsg command, Function<VersionFormat, BsonDocument> version) {
    return shard(shard, command)
        // If the shard is not found, the table is stale: it names a removed shard.
        .onErrorMap(ShardDirectory::isNotFound, StaleRoute::new)
        .flatMap(
            replicaSet ->
                transactions != null && TransactionCommands.isPart(command)
                    ? inTransaction(transactions, replicaSet, shard, command, version)
                    : versioned(replicaSet, concerns.complete(command), version))
        .transformDeferredContextual(
            (answered, context) ->
                answered.doOnNext(answer -> CommandTrace.in(context).sent(shard, answer.server())));
  }

  private static Mono<Answer> versioned(
      ReplicaSet replicaSet, OpMsg command, Function<VersionFormat, BsonDocument> version) {
    return replicaSet.send(
        command,
        server -> command.withFields(version.apply(VersionFormat.of(server.maxWireVersion()))));
  }

  /**
   * Sends a command of a transaction. No default concerns are added, because the transaction has
   * its own concerns, which {@code transactions} adds. A refusal may end the transaction.
   */
  private static Mono<Answer> inTransaction(
      Participation transactions,
      ReplicaSet replicaSet,
      String shard,
      OpMsg command,
      Function<VersionFormat, BsonDocument> version) {
    return transactions
        .joined(command, shard)
        .flatMap(joined -> versioned(replicaSet, joined, version))
        .doOnNext(
            answer -> {
              BsonDocument reply = answer.document();
              if (!ErrorCodes.ok(reply) && ErrorCodes.isStale(ErrorCodes.of(reply))) {
                transactions.refused(command, new StaleRoute(reply));
              }
            });
  }

  /**
   * Whether the table of a collection is loaded within {@link RoutingCatalog#MOMENT}. Also true if
   * the load fails within this time. The command then fails at once with the same error, and does
   * not wait.
   */
  public Mono<Boolean> isKnownSoon(String namespace) {
    return catalog.soon(namespace).hasElement().onErrorReturn(true);
  }

  /**
   * Refreshes the table. Returns the given table if the refresh fails or takes more than a second.
   * The method is for callers that may send the command to no shard. No shard can then detect that
   * the table is stale.
   */
  public Mono<RoutingTable> newest(RoutingTable table) {
    return catalog.refresh(table.namespace(), table).timeout(NEWEST_TIMEOUT).onErrorReturn(table);
  }

  /**
   * Runs {@code attempt} with the current table. As long as it fails with {@link StaleRoute}, runs
   * it again with a newer table.
   */
  public <T> Mono<T> retryWhileStale(String namespace, Function<RoutingTable, Mono<T>> attempt) {
    return catalog.table(namespace).flatMap(table -> attempt(namespace, table, attempt, 1));
  }

  private <T> Mono<T> attempt(
      String namespace, RoutingTable table, Function<RoutingTable, Mono<T>> attempt, int tries) {
    return attempt
        .apply(table)
        .onErrorResume(
            StaleRoute.class,
            stale -> {
              if (tries >= MAX_TRIES) {
                return Mono.error(stale.asFailure());
              }
              return Mono.deferContextual(
                      context -> {
                        CommandTrace.in(context).refused();
                        return Mono.delay(pause(tries)).then(catalog.refresh(namespace, table));
                      })
                  .flatMap(next -> attempt(namespace, next, attempt, tries + 1));
            })
        .onErrorResume(
            failure -> failure.getCause() instanceof StaleRoute,
            // The driver must start the transaction again. The table is refreshed now, so that the
            // new transaction uses the newest table.
            failure ->
                catalog.refresh(namespace, table).onErrorComplete().then(Mono.error(failure)));
  }

  /**
   * The pause before the next attempt. It is needed because a shard may refuse a command during a
   * migration that the config servers have not committed yet. A refresh then returns the same
   * table.
   *
   * @param tries the number of attempts so far
   */
  public static Duration pause(int tries) {
    return tries == 1 ? Duration.ZERO : FIRST_PAUSE.multipliedBy(1L << Math.min(tries, 7));
  }

  /** Emits the answer, or {@link StaleRoute} if the shard refused the whole command as stale. */
  public static Mono<Answer> refuseStale(Answer answer) {
    BsonDocument reply = answer.document();
    return !ErrorCodes.ok(reply) && ErrorCodes.isStale(ErrorCodes.of(reply))
        ? Mono.error(new StaleRoute(reply))
        : Mono.just(answer);
  }

  /**
   * Like {@link #refuseStale}, for a write with one statement. A shard may also return the refusal
   * of such a write as a write error.
   */
  public static Mono<Answer> refuseStaleStatement(Answer answer) {
    for (BsonValue each : answer.document().getArray("writeErrors", new BsonArray())) {
      if (ErrorCodes.isStale(ErrorCodes.of(each.asDocument()))) {
        return Mono.error(new StaleRoute(each.asDocument()));
      }
    }
    return refuseStale(answer);
  }
}
