package dev.onehop.ycsb;

import com.mongodb.client.model.WriteModel;
import com.mongodb.client.result.DeleteResult;
import com.mongodb.client.result.UpdateResult;
import java.util.List;
import java.util.Map;
import org.bson.BsonDocument;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** Passes each operation to another store. Subclasses change some operations. */
class Delegating implements DocumentStore {
  private final DocumentStore store;

  Delegating(DocumentStore store) {
    this.store = store;
  }

  @Override
  public boolean isBlocking() {
    return store.isBlocking();
  }

  @Override
  public Mono<Void> ping() {
    return store.ping();
  }

  @Override
  public Mono<BsonDocument> findOne(
      String collection, BsonDocument filter, @Nullable BsonDocument projection) {
    return store.findOne(collection, filter, projection);
  }

  @Override
  public Mono<List<BsonDocument>> findOrdered(
      String collection, BsonDocument filter, @Nullable BsonDocument projection, int limit) {
    return store.findOrdered(collection, filter, projection, limit);
  }

  @Override
  public Mono<Void> insert(String collection, BsonDocument document) {
    return store.insert(collection, document);
  }

  @Override
  public Mono<Void> upsert(String collection, BsonDocument filter, BsonDocument document) {
    return store.upsert(collection, filter, document);
  }

  @Override
  public Mono<UpdateResult> update(String collection, BsonDocument filter, BsonDocument update) {
    return store.update(collection, filter, update);
  }

  @Override
  public Mono<DeleteResult> delete(String collection, BsonDocument filter) {
    return store.delete(collection, filter);
  }

  @Override
  public Mono<Void> bulkWrite(String collection, List<? extends WriteModel<BsonDocument>> writes) {
    return store.bulkWrite(collection, writes);
  }

  @Override
  public Map<String, Long> routes() {
    return store.routes();
  }

  @Override
  public void close() {
    store.close();
  }
}
