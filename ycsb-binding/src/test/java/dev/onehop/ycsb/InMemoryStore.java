package dev.onehop.ycsb;

import com.mongodb.client.model.InsertOneModel;
import com.mongodb.client.model.ReplaceOneModel;
import com.mongodb.client.model.WriteModel;
import com.mongodb.client.result.DeleteResult;
import com.mongodb.client.result.UpdateResult;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.bson.BsonDocument;
import org.bson.BsonString;
import org.bson.BsonValue;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** Collections in memory, with failures on demand. It executes the commands that bindings send. */
final class InMemoryStore implements DocumentStore {
  final Map<String, NavigableMap<String, BsonDocument>> collections = new ConcurrentHashMap<>();
  final List<Integer> bulkSizes = new ArrayList<>();
  final AtomicInteger pings = new AtomicInteger();
  final AtomicInteger closes = new AtomicInteger();
  final AtomicInteger reads = new AtomicInteger();
  final AtomicInteger updates = new AtomicInteger();

  /** The exception that every operation throws from now on; null for none. */
  volatile @Nullable RuntimeException failure;

  /** The time that each reply takes. */
  volatile Duration delay = Duration.ZERO;

  @Override
  public boolean isBlocking() {
    return false;
  }

  @Override
  public Mono<Void> ping() {
    return answer(pings::incrementAndGet).then();
  }

  @Override
  public Mono<BsonDocument> findOne(
      String collection, BsonDocument filter, @Nullable BsonDocument projection) {
    reads.incrementAndGet();
    return answer(
        () -> {
          BsonDocument found = of(collection).get(id(filter));
          return found == null ? null : project(found, projection);
        });
  }

  @Override
  public Mono<List<BsonDocument>> findOrdered(
      String collection, BsonDocument filter, @Nullable BsonDocument projection, int limit) {
    BsonDocument range = filter.getDocument("_id");
    String from = range.getString("$gte").getValue();
    String to = range.getString("$lt", new BsonString("\uffff")).getValue();
    return answer(
        () ->
            of(collection).subMap(from, to).values().stream()
                .limit(limit)
                .map(found -> project(found, projection))
                .toList());
  }

  @Override
  public Mono<Void> insert(String collection, BsonDocument document) {
    return answer(
            () -> {
              if (of(collection).putIfAbsent(id(document), document) != null) {
                throw new IllegalStateException("duplicate key");
              }
              return document;
            })
        .then();
  }

  @Override
  public Mono<Void> upsert(String collection, BsonDocument filter, BsonDocument document) {
    return answer(() -> of(collection).put(id(filter), document)).then();
  }

  @Override
  public Mono<UpdateResult> update(String collection, BsonDocument filter, BsonDocument update) {
    updates.incrementAndGet();
    return answer(
        () -> {
          BsonDocument found = of(collection).get(id(filter));
          if (found == null) {
            return UpdateResult.acknowledged(0, 0L, null);
          }
          found.putAll(update.getDocument("$set"));
          return UpdateResult.acknowledged(1, 1L, null);
        });
  }

  @Override
  public Mono<DeleteResult> delete(String collection, BsonDocument filter) {
    return answer(
        () -> DeleteResult.acknowledged(of(collection).remove(id(filter)) == null ? 0 : 1));
  }

  @Override
  public Mono<Void> bulkWrite(String collection, List<? extends WriteModel<BsonDocument>> writes) {
    return answer(
            () -> {
              bulkSizes.add(writes.size());
              return writes;
            })
        .flatMapIterable(all -> all)
        .concatMap(
            write -> {
              if (write instanceof InsertOneModel<BsonDocument> insert) {
                return insert(collection, insert.getDocument());
              } else if (write instanceof ReplaceOneModel<BsonDocument> replace) {
                return upsert(
                    collection, replace.getFilter().toBsonDocument(), replace.getReplacement());
              }
              throw new IllegalArgumentException(write.toString());
            })
        .then();
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
    return collections.computeIfAbsent(collection, name -> new ConcurrentSkipListMap<>());
  }

  private <T> Mono<T> answer(Callable<@Nullable T> body) {
    Mono<T> answer =
        Mono.fromCallable(
            () -> {
              RuntimeException current = failure;
              if (current != null) {
                throw current;
              }
              return body.call();
            });
    return delay.isZero() ? answer : answer.delaySubscription(delay);
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
