package dev.onehop.routing.internal.client;

import com.mongodb.ReadConcern;
import com.mongodb.ReadPreference;
import com.mongodb.connection.ClusterType;
import com.mongodb.reactivestreams.client.FindPublisher;
import com.mongodb.reactivestreams.client.MongoClient;
import com.mongodb.reactivestreams.client.MongoDatabase;
import dev.onehop.routing.internal.catalog.ConfigReader;
import dev.onehop.routing.internal.catalog.HistoryReader;
import dev.onehop.routing.internal.targeted.NotShardedException;
import java.util.List;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.RawBsonDocument;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Reads the cluster's metadata through a mongos, as any client with the right to may; a {@link
 * NotShardedException} where there is no mongos.
 */
final class DriverConfigReader implements ConfigReader, HistoryReader {
  /** Chunks are some 200 bytes each: two megabytes. */
  private static final int BATCH = 10_000;

  private static final BsonDocument NEWEST_FIRST = new BsonDocument("$natural", new BsonInt32(-1));
  private static final BsonDocument HISTORY_FIELDS =
      new BsonDocument("what", new BsonInt32(1)).append("ns", new BsonInt32(1));

  private final MongoClient client;
  private final boolean directConnection;
  private final MongoDatabase config;

  /**
   * @param directConnection whether the application asked for one server only, so that nothing is
   *     read
   */
  DriverConfigReader(MongoClient client, boolean directConnection) {
    this.client = client;
    this.directConnection = directConnection;
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

  @Override
  public Flux<List<BsonDocument>> batches(
      String collection, BsonDocument filter, BsonDocument sort, BsonDocument fields) {
    return read(config
            .getCollection(collection, RawBsonDocument.class)
            .find(filter)
            .sort(sort)
            .projection(fields)
            .batchSize(BATCH))
        .<BsonDocument>cast(BsonDocument.class)
        .buffer(BATCH);
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
    return read(found).collectList();
  }

  private <T> Flux<T> read(FindPublisher<T> found) {
    return Flux.defer(
        () -> {
          refuseUnlessSharded();
          return Flux.from(found)
              // Until the first answer nobody knew what is there; all have a database config.
              .doOnComplete(this::refuseUnlessSharded);
        });
  }

  private void refuseUnlessSharded() {
    if (directConnection) {
      throw NotShardedException.directConnection();
    }
    ClusterType type = client.getClusterDescription().getType();
    if (type != ClusterType.SHARDED && type != ClusterType.UNKNOWN) {
      throw new NotShardedException(type);
    }
  }
}
