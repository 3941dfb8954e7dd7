package dev.onehop.shards.cluster;

import dev.onehop.core.table.InconsistentRoutingTableException;
import dev.onehop.core.table.ShardId;
import dev.onehop.shards.catalog.ConfigReader;
import dev.onehop.wire.ServerAddressName;
import dev.onehop.wire.connection.WirePool;
import dev.onehop.wire.message.CommandFailure;
import dev.onehop.wire.message.ErrorCodes;
import dev.onehop.wire.watch.ServerSet;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.bson.BsonDocument;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * The cluster's shards by id. {@code config.shards} is read at the start, and again when an id is
 * unknown.
 *
 * <p>Thread-safe.
 */
public final class ShardDirectory implements AutoCloseable {
  private final ConfigReader config;
  private final ServerSet.Factory watcher;
  private final WirePool pool;
  private final ClusterClock clock;
  private volatile Map<String, Entry> shards = Map.of();
  private final List<ReplicaSet> others = new ArrayList<>();
  private boolean closed;

  private record Entry(String connectionString, ReplicaSet replicaSet) {
    /**
     * Whether another connection string belongs to the same replica set: it has the same name and
     * at least one of the same members. The other members may differ, because the monitor follows
     * changes of the members.
     */
    boolean isSame(String other) {
      return name(connectionString).equals(name(other))
          && !Collections.disjoint(
              ServerAddressName.members(connectionString), ServerAddressName.members(other));
    }

    private static String name(String connectionString) {
      return connectionString.substring(0, Math.max(0, connectionString.indexOf('/')));
    }
  }

  public ShardDirectory(
      ConfigReader config, ServerSet.Factory watcher, WirePool pool, ClusterClock clock) {
    this.config = config;
    this.watcher = watcher;
    this.pool = pool;
    this.clock = clock;
  }

  /** The replica set of a known shard; null if the shard is unknown. Reads nothing. */
  public @Nullable ReplicaSet known(String id) {
    Entry entry = shards.get(id);
    return entry == null ? null : entry.replicaSet();
  }

  /** The ids of the shards at the last read. Reads nothing. */
  public Set<String> known() {
    return shards.keySet();
  }

  /** The replica set of a shard; a {@link CommandFailure} "shard not found" if there is none. */
  public Mono<ReplicaSet> shard(String id) {
    Entry known = shards.get(id);
    if (known != null) {
      return Mono.just(known.replicaSet());
    }
    return all()
        .flatMap(
            current -> {
              ReplicaSet found = current.get(id);
              return found != null
                  ? Mono.just(found)
                  : Mono.error(
                      new CommandFailure(
                          ErrorCodes.SHARD_NOT_FOUND,
                          "ShardNotFound",
                          "shard " + id + " is not in config.shards"));
            });
  }

  /**
   * The name of the shard to which an id in the config database refers; an {@link
   * InconsistentRoutingTableException} if there is no such shard.
   */
  public Mono<String> name(ShardId id) {
    return id.value().isString()
        ? Mono.fromCallable(() -> id.name(Map.of()))
        : config.find("shards", new BsonDocument()).map(all -> id.name(ShardId.names(all)));
  }

  public static boolean isNotFound(Throwable failure) {
    return failure instanceof CommandFailure refused
        && refused.code() == ErrorCodes.SHARD_NOT_FOUND;
  }

  /** Reads all current shards of the cluster, by id. */
  public Mono<Map<String, ReplicaSet>> all() {
    return config.find("shards", new BsonDocument()).map(this::replace);
  }

  /**
   * Connects to a replica set that is not a shard, and watches it until this object is closed.
   *
   * @param connectionString {@code name/host:port,...} as in the cluster's metadata
   */
  public synchronized ReplicaSet further(String connectionString) {
    ReplicaSet set = begin(connectionString);
    others.add(set);
    return set;
  }

  private ReplicaSet begin(String connectionString) {
    if (closed) {
      // No monitor may start after this object is closed, because nothing would stop it.
      throw new IllegalStateException("the client is closed");
    }
    return new ReplicaSet(watcher.watch(connectionString), pool, clock);
  }

  private synchronized Map<String, ReplicaSet> replace(List<BsonDocument> documents) {
    Map<String, Entry> before = shards;
    Map<String, Entry> now = new TreeMap<>();
    Map<String, ReplicaSet> sets = new TreeMap<>();
    for (BsonDocument document : documents) {
      String id = document.getString("_id").getValue();
      String host = document.getString("host").getValue();
      Entry old = before.get(id);
      Entry entry = old != null && old.isSame(host) ? old : new Entry(host, begin(host));
      now.put(id, entry);
      sets.put(id, entry.replicaSet());
    }
    shards = Map.copyOf(now);
    before.forEach(
        (id, entry) -> {
          ReplicaSet kept = sets.get(id);
          if (kept != entry.replicaSet()) {
            entry.replicaSet().servers().close();
          }
        });
    return sets;
  }

  /** Stops watching the shards. */
  @Override
  public synchronized void close() {
    closed = true;
    shards.values().forEach(entry -> entry.replicaSet().servers().close());
    others.forEach(each -> each.servers().close());
    shards = Map.of();
  }
}
