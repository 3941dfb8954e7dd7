package dev.onehop.routing.internal.direct;

import dev.onehop.routing.internal.catalog.ConfigReader;
import dev.onehop.routing.internal.wire.WirePool;
import java.util.Map;
import java.util.TreeMap;
import org.bson.BsonDocument;
import reactor.core.publisher.Mono;

/**
 * The cluster's shards by id, read from {@code config.shards} and again when an id is unknown.
 *
 * <p>Thread-safe.
 */
final class ShardDirectory {
  private final ConfigReader config;
  private final WirePool pool;
  private final ClusterClock clock;
  private volatile Map<String, Entry> shards = Map.of();

  private record Entry(String connectionString, ReplicaSet replicaSet) {}

  ShardDirectory(ConfigReader config, WirePool pool, ClusterClock clock) {
    this.config = config;
    this.pool = pool;
    this.clock = clock;
  }

  /** The replica set of a shard; a {@link CommandFailure} "shard not found" if there is none. */
  Mono<ReplicaSet> shard(String id) {
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

  /** All shards of the cluster as it is now, by id. */
  Mono<Map<String, ReplicaSet>> all() {
    return config
        .find("shards", new BsonDocument(), new BsonDocument())
        .map(
            documents -> {
              Map<String, Entry> before = shards;
              Map<String, Entry> now = new TreeMap<>();
              Map<String, ReplicaSet> sets = new TreeMap<>();
              for (BsonDocument document : documents) {
                String id = document.getString("_id").getValue();
                String host = document.getString("host").getValue();
                Entry old = before.get(id);
                Entry entry =
                    old != null && old.connectionString().equals(host)
                        ? old
                        : new Entry(host, ReplicaSet.parse(host, pool, clock));
                now.put(id, entry);
                sets.put(id, entry.replicaSet());
              }
              shards = Map.copyOf(now);
              return sets;
            });
  }
}
