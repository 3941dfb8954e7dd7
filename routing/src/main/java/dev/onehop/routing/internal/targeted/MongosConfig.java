package dev.onehop.routing.internal.targeted;

import com.mongodb.connection.ClusterType;
import dev.onehop.shards.catalog.ConfigReader;
import dev.onehop.shards.cluster.ClusterClock;
import dev.onehop.shards.cluster.ConfigServer;
import dev.onehop.shards.cluster.ReplicaSet;
import dev.onehop.wire.connection.WirePool;
import java.util.List;
import org.bson.BsonDocument;
import reactor.core.publisher.Flux;

/**
 * Reads the cluster's metadata over the nearest mongos. Fails with a {@link NotShardedException} if
 * the servers are not mongoses.
 */
final class MongosConfig implements ConfigReader {
  private final Mongoses mongoses;
  private final ConfigServer config;

  MongosConfig(Mongoses mongoses, WirePool pool) {
    ClusterClock clock = new ClusterClock();
    this.mongoses = mongoses;
    this.config = new ConfigServer(new ReplicaSet(mongoses, pool, clock), clock);
  }

  /**
   * Reads only if the servers are mongoses. The first reply of a server shows this, so the method
   * waits for it. Other servers have a database {@code config}, too, which would be read by
   * mistake.
   */
  @Override
  public Flux<List<BsonDocument>> batches(BsonDocument find) {
    return Flux.defer(
        () -> {
          long start = System.nanoTime();
          return mongoses
              .heard()
              .thenMany(Flux.defer(() -> ifSharded(find)))
              .doOnNext(batch -> mongoses.noteRead(System.nanoTime() - start));
        });
  }

  private Flux<List<BsonDocument>> ifSharded(BsonDocument find) {
    ClusterType type = mongoses.type();
    return type == ClusterType.SHARDED || type == ClusterType.UNKNOWN
        ? config.batches(find)
        : Flux.error(new NotShardedException(type));
  }
}
