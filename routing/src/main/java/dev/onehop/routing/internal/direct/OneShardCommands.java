package dev.onehop.routing.internal.direct;

import dev.onehop.core.table.RoutingTable;
import dev.onehop.core.table.ShardKeyException;
import dev.onehop.core.targeting.Target;
import dev.onehop.shards.catalog.RoutingCatalog;
import dev.onehop.shards.catalog.UnknownNamespaceException;
import dev.onehop.shards.catalog.ViewException;
import dev.onehop.shards.command.ClusterState;
import dev.onehop.shards.command.OneShardReads;
import dev.onehop.shards.command.ReadTargets;
import dev.onehop.shards.command.ShardClient;
import dev.onehop.shards.command.WriteResult;
import dev.onehop.wire.message.ErrorCodes;
import dev.onehop.wire.message.OpMsg;
import org.bson.BsonDocument;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * Executes reads and writes at the one shard that owns all data they touch. A command goes to a
 * mongos if several shards own its data, or if the shard refuses it because the shard cannot
 * execute it alone.
 *
 * <p>Thread-safe.
 */
final class OneShardCommands {
  static final String MOVES = "an update that moves its document to another shard";

  private final ShardClient shards;
  private final RoutingCatalog catalog;
  private final OneShardReads reads;
  private final MongosFallback fallback;

  OneShardCommands(ClusterState cluster, MongosFallback fallback) {
    this.shards = cluster.shards();
    this.catalog = cluster.catalog();
    this.reads = new OneShardReads(shards, cluster.cursors());
    this.fallback = fallback;
  }

  /** Executes a command that {@link OwnCommands} allows. */
  Mono<BsonDocument> run(OpMsg command, String namespace) {
    Mono<BsonDocument> answer =
        OwnCommands.isWrite(command)
            ? Mono.defer(() -> new OwnersBatch(shards, command, this).run(namespace))
            : shards.retryWhileStale(namespace, table -> read(command, table));
    return answer
        .onErrorResume(
            UnknownNamespaceException.class, e -> fallback.send(command, "a new database"))
        .onErrorResume(ViewException.class, e -> fallback.send(command, e.kind()));
  }

  private Mono<BsonDocument> read(OpMsg command, RoutingTable table) {
    String shard = owner(command, table);
    return shard == null
        ? doubted(table).flatMap(newest -> readAt(owner(command, newest), command, newest))
        : readAt(shard, command, table);
  }

  private Mono<BsonDocument> readAt(@Nullable String shard, OpMsg command, RoutingTable table) {
    return shard == null
        ? handOver(command, "the command " + command.commandName() + " over several shards")
        : reads
            .run(command, table, shard)
            .flatMap(
                reply ->
                    ErrorCodes.isOfShardedView(reply)
                        ? handOver(command, "a view of a sharded collection")
                        : WriteResult.movesDocument(reply)
                            ? handOver(command, MOVES)
                            : Mono.just(WriteResult.atShard(shard, reply)));
  }

  /** The one shard that owns all data that a command touches; null if there is no such shard. */
  private static @Nullable String owner(OpMsg command, RoutingTable table) {
    try {
      Target target = ReadTargets.of(table, command.commandName(), command.body());
      return target != null && target.isSingleShard() ? target.shard() : null;
    } catch (ShardKeyException e) {
      return null;
    }
  }

  /** Sends a command to a mongos. */
  Mono<BsonDocument> handOver(OpMsg command, String what) {
    return fallback.send(command, what);
  }

  /**
   * Returns the table for a second decision, after the first decision found no single owner for a
   * command. The first decision may be wrong, because its table may be stale. No shard would report
   * this, because no shard gets the command.
   *
   * <p>If there is a mongos, it executes the command. The method then returns the same table, and
   * refreshes the table in the background. Without a mongos, the method returns the newest table.
   * The command fails only if it has no single owner by the newest table, either.
   */
  Mono<RoutingTable> doubted(RoutingTable table) {
    return fallback
        .isPossible()
        .flatMap(
            possible -> {
              if (!possible) {
                return shards.newest(table);
              }
              catalog.suspect(table.namespace());
              return Mono.just(table);
            });
  }
}
