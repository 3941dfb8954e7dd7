package dev.onehop.routing.internal.client;

import com.mongodb.ReadConcern;
import com.mongodb.ReadPreference;
import com.mongodb.connection.ClusterType;
import com.mongodb.reactivestreams.client.FindPublisher;
import com.mongodb.reactivestreams.client.MongoClient;
import com.mongodb.reactivestreams.client.MongoDatabase;
import dev.onehop.routing.internal.catalog.ConfigReader;
import java.util.List;
import org.bson.BsonDocument;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Reads the cluster's metadata through a mongos, as any client with the right to may; a {@link
 * NotShardedException} where there is no mongos.
 */
final class DriverConfigReader implements ConfigReader {
  private final MongoClient client;
  private final MongoDatabase config;

  DriverConfigReader(MongoClient client) {
    this.client = client;
    this.config =
        client
            .getDatabase("config")
            .withReadConcern(ReadConcern.MAJORITY)
            .withReadPreference(ReadPreference.primaryPreferred());
  }

  @Override
  public Mono<List<BsonDocument>> find(String collection, BsonDocument filter, BsonDocument sort) {
    FindPublisher<BsonDocument> found =
        config.getCollection(collection, BsonDocument.class).find(filter);
    return Mono.defer(
        () -> {
          refuseUnlessSharded();
          return Flux.from(sort.isEmpty() ? found : found.sort(sort))
              .collectList()
              // Until the first answer nobody knew what is there; all have a database config.
              .doOnNext(read -> refuseUnlessSharded());
        });
  }

  private void refuseUnlessSharded() {
    ClusterType type = client.getClusterDescription().getType();
    if (type != ClusterType.SHARDED && type != ClusterType.UNKNOWN) {
      throw new NotShardedException(type);
    }
  }
}
