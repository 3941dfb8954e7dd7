package dev.onehop.routing.internal.client;

import com.mongodb.ReadConcern;
import com.mongodb.ReadPreference;
import com.mongodb.connection.ClusterType;
import com.mongodb.reactivestreams.client.FindPublisher;
import com.mongodb.reactivestreams.client.MongoClient;
import com.mongodb.reactivestreams.client.MongoDatabase;
import dev.onehop.routing.internal.catalog.ConfigReader;
import dev.onehop.routing.internal.catalog.HistoryReader;
import java.util.List;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Reads the cluster's metadata through a mongos, as any client with the right to may; a {@link
 * NotShardedException} where there is no mongos.
 */
final class DriverConfigReader implements ConfigReader, HistoryReader {
  private static final BsonDocument NEWEST_FIRST = new BsonDocument("$natural", new BsonInt32(-1));
  private static final BsonDocument HISTORY_FIELDS =
      new BsonDocument("what", new BsonInt32(1)).append("ns", new BsonInt32(1));

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
    return all(sort.isEmpty() ? found : found.sort(sort));
  }

  /** The history is a capped collection, whose natural order is that of its entries. */
  @Override
  public Mono<List<BsonDocument>> newest(int limit) {
    return all(
        config
            .getCollection("changelog", BsonDocument.class)
            .find()
            .sort(NEWEST_FIRST)
            .projection(HISTORY_FIELDS)
            .limit(limit));
  }

  private Mono<List<BsonDocument>> all(FindPublisher<BsonDocument> found) {
    return Mono.defer(
        () -> {
          refuseUnlessSharded();
          return Flux.from(found)
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
