package dev.onehop.ycsb;

import com.mongodb.client.model.WriteModel;
import com.mongodb.client.result.DeleteResult;
import com.mongodb.client.result.UpdateResult;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import org.bson.BsonDocument;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Many clients in one process, like many instances of an application. Each client has its own
 * pools. The clients take turns: after some operations of one client, the next client follows. Safe
 * for use by many threads.
 */
final class ManyStores implements DocumentStore {
  private final List<DocumentStore> stores;
  private final int turn;
  private final AtomicLong operations = new AtomicLong();

  private ManyStores(List<DocumentStore> stores, int turn) {
    this.stores = stores;
    this.turn = turn;
  }

  /**
   * Opens the clients.
   *
   * @param clients the number of clients
   * @param turn the number of operations after which the next client follows
   * @param opener opens a client
   */
  static DocumentStore open(int clients, int turn, Supplier<DocumentStore> opener) {
    if (clients == 1) {
      return opener.get();
    }
    List<DocumentStore> stores = new ArrayList<>();
    try {
      for (int i = 0; i < clients; i++) {
        stores.add(opener.get());
      }
    } catch (RuntimeException e) {
      stores.forEach(DocumentStore::close);
      throw e;
    }
    return new ManyStores(stores, turn);
  }

  private DocumentStore next() {
    return stores.get((int) (operations.getAndIncrement() / turn % stores.size()));
  }

  @Override
  public boolean isBlocking() {
    return stores.get(0).isBlocking();
  }

  @Override
  public Mono<Void> ping() {
    return Flux.fromIterable(stores).concatMap(DocumentStore::ping).then();
  }

  @Override
  public Mono<BsonDocument> findOne(
      String collection, BsonDocument filter, @Nullable BsonDocument projection) {
    return next().findOne(collection, filter, projection);
  }

  @Override
  public Mono<List<BsonDocument>> findOrdered(
      String collection, BsonDocument filter, @Nullable BsonDocument projection, int limit) {
    return next().findOrdered(collection, filter, projection, limit);
  }

  @Override
  public Mono<Void> insert(String collection, BsonDocument document) {
    return next().insert(collection, document);
  }

  @Override
  public Mono<Void> upsert(String collection, BsonDocument filter, BsonDocument document) {
    return next().upsert(collection, filter, document);
  }

  @Override
  public Mono<UpdateResult> update(String collection, BsonDocument filter, BsonDocument update) {
    return next().update(collection, filter, update);
  }

  @Override
  public Mono<DeleteResult> delete(String collection, BsonDocument filter) {
    return next().delete(collection, filter);
  }

  @Override
  public Mono<Void> bulkWrite(String collection, List<? extends WriteModel<BsonDocument>> writes) {
    return next().bulkWrite(collection, writes);
  }

  @Override
  public Map<String, Long> routes() {
    Map<String, Long> all = new HashMap<>();
    stores.forEach(
        store ->
            store.routes().forEach((decision, count) -> all.merge(decision, count, Long::sum)));
    return all;
  }

  @Override
  public void close() {
    stores.forEach(DocumentStore::close);
  }
}
