package dev.onehop.ycsb;

import com.mongodb.client.model.WriteModel;
import com.mongodb.client.result.DeleteResult;
import com.mongodb.client.result.UpdateResult;
import com.mongodb.reactivestreams.client.FindPublisher;
import com.mongodb.reactivestreams.client.MongoClient;
import com.mongodb.reactivestreams.client.MongoCollection;
import com.mongodb.reactivestreams.client.MongoDatabase;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import org.bson.BsonDocument;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;

/** A store over any implementation of the reactive driver's interfaces. */
final class ReactiveStore implements DocumentStore {
  private final MongoClient client;
  private final MongoDatabase database;
  private final RouteCounts routeCounts;
  private final Map<String, MongoCollection<BsonDocument>> collections = new ConcurrentHashMap<>();

  /** Takes over {@code client}: {@link #close} closes it. */
  ReactiveStore(MongoClient client, String database, RouteCounts routeCounts) {
    this.client = client;
    this.database = client.getDatabase(database);
    this.routeCounts = routeCounts;
  }

  @Override
  public void ping() {
    await(database.runCommand(Documents.PING));
  }

  @Override
  public @Nullable BsonDocument findOne(
      String collection, BsonDocument filter, @Nullable BsonDocument projection) {
    return awaitEnd(find(collection, filter, projection).first());
  }

  @Override
  public List<BsonDocument> findOrdered(
      String collection, BsonDocument filter, @Nullable BsonDocument projection, int limit) {
    return await(
        Flux.from(find(collection, filter, projection).sort(Documents.BY_ID).limit(limit))
            .collectList());
  }

  @Override
  public void insert(String collection, BsonDocument document) {
    await(collection(collection).insertOne(document));
  }

  @Override
  public void upsert(String collection, BsonDocument filter, BsonDocument document) {
    await(collection(collection).replaceOne(filter, document, Documents.UPSERT));
  }

  @Override
  public UpdateResult update(String collection, BsonDocument filter, BsonDocument update) {
    return await(collection(collection).updateOne(filter, update));
  }

  @Override
  public DeleteResult delete(String collection, BsonDocument filter) {
    return await(collection(collection).deleteOne(filter));
  }

  @Override
  public void bulkWrite(String collection, List<? extends WriteModel<BsonDocument>> writes) {
    await(collection(collection).bulkWrite(writes, Documents.UNORDERED));
  }

  @Override
  public Map<String, Long> routes() {
    return routeCounts.counts();
  }

  @Override
  public void close() {
    client.close();
  }

  private FindPublisher<BsonDocument> find(
      String collection, BsonDocument filter, @Nullable BsonDocument projection) {
    return collection(collection).find(filter).projection(projection);
  }

  private MongoCollection<BsonDocument> collection(String name) {
    return collections.computeIfAbsent(
        name, missing -> database.getCollection(missing, BsonDocument.class));
  }

  private static <T> T await(Publisher<T> publisher) {
    return Objects.requireNonNull(awaitEnd(publisher), "the driver completed without a result");
  }

  /** Not just for the result: the run's last operation may not be in the route counts before. */
  private static <T> @Nullable T awaitEnd(Publisher<T> publisher) {
    return Flux.from(publisher).takeLast(1).next().block();
  }
}
