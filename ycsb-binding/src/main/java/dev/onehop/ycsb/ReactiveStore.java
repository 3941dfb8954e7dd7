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
import java.util.concurrent.ConcurrentHashMap;
import org.bson.BsonDocument;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** A store on the reactive driver's interfaces. */
final class ReactiveStore implements DocumentStore {
  private final MongoClient client;
  private final MongoDatabase database;
  private final RouteCounts routeCounts;
  private final Map<String, MongoCollection<BsonDocument>> collections = new ConcurrentHashMap<>();

  /** Creates a store that owns {@code client}: {@link #close} closes it. */
  ReactiveStore(MongoClient client, String database, RouteCounts routeCounts) {
    this.client = client;
    this.database = client.getDatabase(database);
    this.routeCounts = routeCounts;
  }

  @Override
  public boolean isBlocking() {
    return false;
  }

  @Override
  public Mono<Void> ping() {
    return toEnd(database.runCommand(Documents.PING)).then();
  }

  @Override
  public Mono<BsonDocument> findOne(
      String collection, BsonDocument filter, @Nullable BsonDocument projection) {
    return toEnd(find(collection, filter, projection).first());
  }

  @Override
  public Mono<List<BsonDocument>> findOrdered(
      String collection, BsonDocument filter, @Nullable BsonDocument projection, int limit) {
    return Flux.from(find(collection, filter, projection).sort(Documents.BY_ID).limit(limit))
        .collectList();
  }

  @Override
  public Mono<Void> insert(String collection, BsonDocument document) {
    return toEnd(collection(collection).insertOne(document)).then();
  }

  @Override
  public Mono<Void> upsert(String collection, BsonDocument filter, BsonDocument document) {
    return toEnd(collection(collection).replaceOne(filter, document, Documents.UPSERT)).then();
  }

  @Override
  public Mono<UpdateResult> update(String collection, BsonDocument filter, BsonDocument update) {
    return toEnd(collection(collection).updateOne(filter, update));
  }

  @Override
  public Mono<DeleteResult> delete(String collection, BsonDocument filter) {
    return toEnd(collection(collection).deleteOne(filter));
  }

  @Override
  public Mono<Void> bulkWrite(String collection, List<? extends WriteModel<BsonDocument>> writes) {
    return toEnd(collection(collection).bulkWrite(writes, Documents.UNORDERED)).then();
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

  /**
   * Waits for the result of the publisher, and then for its end. When the result arrives, the route
   * counts may not contain the operation yet.
   */
  private static <T> Mono<T> toEnd(Publisher<T> publisher) {
    return Flux.from(publisher).takeLast(1).next();
  }
}
