package dev.onehop.routing.internal.targeted;

import com.mongodb.connection.ClusterType;
import dev.onehop.shards.catalog.ConfigReader;
import dev.onehop.shards.catalog.HistoryReader;
import dev.onehop.shards.cluster.ClusterClock;
import dev.onehop.shards.cluster.ConfigServer;
import dev.onehop.shards.cluster.ReplicaSet;
import dev.onehop.wire.connection.WirePool;
import java.util.List;
import org.bson.BsonBoolean;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonString;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Reads the cluster's metadata over the nearest mongos; a {@link NotShardedException} where there
 * is none.
 */
final class MongosConfig implements ConfigReader, HistoryReader {
  private final Mongoses mongoses;
  private final ConfigServer config;

  MongosConfig(Mongoses mongoses, WirePool pool) {
    ClusterClock clock = new ClusterClock();
    this.mongoses = mongoses;
    this.config = new ConfigServer(new ReplicaSet(mongoses, pool, clock), clock);
  }

  @Override
  public Mono<List<BsonDocument>> find(String collection, BsonDocument filter, BsonDocument sort) {
    return Mono.defer(
        () -> {
          long start = System.nanoTime();
          return ifSharded()
              .then(config.find(collection, filter, sort))
              .doOnNext(read -> mongoses.noteRead(System.nanoTime() - start));
        });
  }

  @Override
  public Flux<List<BsonDocument>> batches(
      String collection, BsonDocument filter, BsonDocument sort, BsonDocument fields) {
    return ifSharded().thenMany(config.batches(collection, filter, sort, fields));
  }

  /** The history is a capped collection, whose natural order is that of its entries. */
  @Override
  public Mono<List<BsonDocument>> newest(int limit) {
    BsonDocument find =
        new BsonDocument("find", new BsonString("changelog"))
            .append("sort", new BsonDocument("$natural", new BsonInt32(-1)))
            .append(
                "projection",
                new BsonDocument("what", new BsonInt32(1)).append("ns", new BsonInt32(1)))
            .append("limit", new BsonInt32(limit))
            .append("batchSize", new BsonInt32(limit))
            .append("singleBatch", BsonBoolean.TRUE)
            .append("readConcern", new BsonDocument("level", new BsonString("majority")));
    return ifSharded()
        .then(Mono.defer(() -> config.run("config", find)))
        .map(
            reply ->
                reply.getDocument("cursor").getArray("firstBatch").stream()
                    .map(each -> each.asDocument())
                    .toList());
  }

  /** Until the first answer it is not known what is there; all have a database config. */
  private Mono<Void> ifSharded() {
    return mongoses
        .heard()
        .then(
            Mono.defer(
                () -> {
                  ClusterType type = mongoses.type();
                  return type == ClusterType.SHARDED || type == ClusterType.UNKNOWN
                      ? Mono.empty()
                      : Mono.error(new NotShardedException(type));
                }));
  }
}
