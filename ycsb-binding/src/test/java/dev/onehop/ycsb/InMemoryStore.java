package dev.onehop.ycsb;

import com.mongodb.client.model.InsertOneModel;
import com.mongodb.client.model.ReplaceOneModel;
import com.mongodb.client.model.WriteModel;
import com.mongodb.client.result.DeleteResult;
import com.mongodb.client.result.UpdateResult;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.bson.BsonDocument;
import org.bson.BsonValue;
import org.jspecify.annotations.Nullable;

/** Collections in memory, and failures on demand. Understands the commands bindings send. */
final class InMemoryStore implements DocumentStore {
  final Map<String, NavigableMap<String, BsonDocument>> collections = new ConcurrentHashMap<>();
  final List<Integer> bulkSizes = new ArrayList<>();
  final AtomicInteger pings = new AtomicInteger();
  final AtomicInteger closes = new AtomicInteger();
  final AtomicInteger reads = new AtomicInteger();
  final AtomicInteger updates = new AtomicInteger();

  /** Thrown by every operation from now on. */
  volatile @Nullable RuntimeException failure;

  @Override
  public void ping() {
    pings.incrementAndGet();
    failIfAsked();
  }

  @Override
  public @Nullable BsonDocument findOne(
      String collection, BsonDocument filter, @Nullable BsonDocument projection) {
    reads.incrementAndGet();
    failIfAsked();
    BsonDocument found = of(collection).get(id(filter));
    return found == null ? null : project(found, projection);
  }

  @Override
  public List<BsonDocument> findOrdered(
      String collection, BsonDocument filter, @Nullable BsonDocument projection, int limit) {
    failIfAsked();
    String from = filter.getDocument("_id").getString("$gte").getValue();
    return of(collection).tailMap(from).values().stream()
        .limit(limit)
        .map(found -> project(found, projection))
        .toList();
  }

  @Override
  public void insert(String collection, BsonDocument document) {
    failIfAsked();
    if (of(collection).putIfAbsent(id(document), document) != null) {
      throw new IllegalStateException("duplicate key");
    }
  }

  @Override
  public void upsert(String collection, BsonDocument filter, BsonDocument document) {
    failIfAsked();
    of(collection).put(id(filter), document);
  }

  @Override
  public UpdateResult update(String collection, BsonDocument filter, BsonDocument update) {
    updates.incrementAndGet();
    failIfAsked();
    BsonDocument found = of(collection).get(id(filter));
    if (found == null) {
      return UpdateResult.acknowledged(0, 0L, null);
    }
    found.putAll(update.getDocument("$set"));
    return UpdateResult.acknowledged(1, 1L, null);
  }

  @Override
  public DeleteResult delete(String collection, BsonDocument filter) {
    failIfAsked();
    return DeleteResult.acknowledged(of(collection).remove(id(filter)) == null ? 0 : 1);
  }

  @Override
  public void bulkWrite(String collection, List<? extends WriteModel<BsonDocument>> writes) {
    failIfAsked();
    bulkSizes.add(writes.size());
    for (WriteModel<BsonDocument> write : writes) {
      if (write instanceof InsertOneModel<BsonDocument> insert) {
        insert(collection, insert.getDocument());
      } else if (write instanceof ReplaceOneModel<BsonDocument> replace) {
        upsert(collection, replace.getFilter().toBsonDocument(), replace.getReplacement());
      } else {
        throw new IllegalArgumentException(write.toString());
      }
    }
  }

  @Override
  public Map<String, Long> routes() {
    return Map.of("owner", 3L);
  }

  @Override
  public void close() {
    closes.incrementAndGet();
  }

  NavigableMap<String, BsonDocument> of(String collection) {
    return collections.computeIfAbsent(collection, name -> new TreeMap<>());
  }

  private void failIfAsked() {
    RuntimeException asked = failure;
    if (asked != null) {
      throw asked;
    }
  }

  private static String id(BsonDocument document) {
    return document.getString("_id").getValue();
  }

  private static BsonDocument project(BsonDocument found, @Nullable BsonDocument projection) {
    BsonDocument projected = new BsonDocument();
    for (Map.Entry<String, BsonValue> entry : found.entrySet()) {
      String name = entry.getKey();
      if (projection == null || projection.containsKey(name) || name.equals("_id")) {
        projected.put(name, entry.getValue());
      }
    }
    return projected;
  }
}
