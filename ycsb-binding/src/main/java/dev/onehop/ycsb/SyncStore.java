package dev.onehop.ycsb;

import com.mongodb.client.FindIterable;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.MongoDatabase;
import com.mongodb.client.model.WriteModel;
import com.mongodb.client.result.DeleteResult;
import com.mongodb.client.result.UpdateResult;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.bson.BsonDocument;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** A store over the synchronous driver. */
final class SyncStore implements DocumentStore {
  private final MongoClient client;
  private final MongoDatabase database;
  private final RouteCounts routeCounts;

  /** Creates a store that owns {@code client}: {@link #close} closes it. */
  SyncStore(MongoClient client, String database) {
    this(client, database, RouteCounts.NONE);
  }

  /** Creates a store that owns {@code client}: {@link #close} closes it. */
  SyncStore(MongoClient client, String database, RouteCounts routeCounts) {
    this.client = client;
    this.database = client.getDatabase(database);
    this.routeCounts = routeCounts;
  }

  @Override
  public boolean isBlocking() {
    return true;
  }

  @Override
  public Mono<Void> ping() {
    return Mono.fromRunnable(() -> database.runCommand(Documents.PING));
  }

  @Override
  public Mono<BsonDocument> findOne(
      String collection, BsonDocument filter, @Nullable BsonDocument projection) {
    return Mono.fromCallable(() -> find(collection, filter, projection).first());
  }

  @Override
  public Mono<List<BsonDocument>> findOrdered(
      String collection, BsonDocument filter, @Nullable BsonDocument projection, int limit) {
    return Mono.fromCallable(
        () ->
            find(collection, filter, projection)
                .sort(Documents.BY_ID)
                .limit(limit)
                .into(new ArrayList<>()));
  }

  @Override
  public Mono<Void> insert(String collection, BsonDocument document) {
    return Mono.fromRunnable(() -> collection(collection).insertOne(document));
  }

  @Override
  public Mono<Void> upsert(String collection, BsonDocument filter, BsonDocument document) {
    return Mono.fromRunnable(
        () -> collection(collection).replaceOne(filter, document, Documents.UPSERT));
  }

  @Override
  public Mono<UpdateResult> update(String collection, BsonDocument filter, BsonDocument update) {
    return Mono.fromCallable(() -> collection(collection).updateOne(filter, update));
  }

  @Override
  public Mono<DeleteResult> delete(String collection, BsonDocument filter) {
    return Mono.fromCallable(() -> collection(collection).deleteOne(filter));
  }

  @Override
  public Mono<Void> bulkWrite(String collection, List<? extends WriteModel<BsonDocument>> writes) {
    return Mono.fromRunnable(() -> collection(collection).bulkWrite(writes, Documents.UNORDERED));
  }

  @Override
  public Map<String, Long> routes() {
    return routeCounts.counts();
  }

  @Override
  public void close() {
    client.close();
  }

  private FindIterable<BsonDocument> find(
      String collection, BsonDocument filter, @Nullable BsonDocument projection) {
    return collection(collection).find(filter).projection(projection);
  }

  private MongoCollection<BsonDocument> collection(String name) {
    return database.getCollection(name, BsonDocument.class);
  }
}
