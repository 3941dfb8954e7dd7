package dev.onehop.copy.internal.apply;

import com.mongodb.MongoNamespace;
import com.mongodb.ReadConcern;
import com.mongodb.reactivestreams.client.MongoClient;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.bson.BsonBoolean;
import org.bson.BsonDocument;
import org.bson.BsonString;
import reactor.core.publisher.Mono;

/** What is known of the destination's collections. Thread-safe. */
final class Targets {
  private final MongoClient destination;
  private final Map<String, Target> known = new ConcurrentHashMap<>();

  Targets(MongoClient destination) {
    this.destination = destination;
  }

  /**
   * A collection.
   *
   * @param namespace its name at the destination
   */
  Mono<Target> of(String namespace) {
    Target target = known.get(namespace);
    return target != null ? Mono.just(target) : read(namespace);
  }

  private Mono<Target> read(String namespace) {
    return Mono.from(
            destination
                .getDatabase("config")
                .getCollection("collections", BsonDocument.class)
                .withReadConcern(ReadConcern.MAJORITY)
                .find(new BsonDocument("_id", new BsonString(namespace)))
                .first())
        .filter(
            entry ->
                !entry.getBoolean("dropped", BsonBoolean.FALSE).getValue()
                    && !entry.getBoolean("unsplittable", BsonBoolean.FALSE).getValue())
        .map(entry -> List.copyOf(entry.getDocument("key").keySet()))
        .defaultIfEmpty(List.of())
        .map(shardKey -> new Target(new MongoNamespace(namespace), shardKey))
        .doOnNext(target -> known.put(namespace, target));
  }

  /** Its metadata may have changed. */
  void forget() {
    known.clear();
  }
}
