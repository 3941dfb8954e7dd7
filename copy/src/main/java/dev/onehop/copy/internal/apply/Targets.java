package dev.onehop.copy.internal.apply;

import com.mongodb.MongoNamespace;
import com.mongodb.client.model.Filters;
import com.mongodb.reactivestreams.client.MongoClient;
import dev.onehop.copy.internal.cluster.ClusterQueries;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.bson.BsonBoolean;
import org.bson.BsonDocument;
import org.bson.BsonString;
import reactor.core.publisher.Mono;

/** Reads the collections of the destination, and keeps them in memory. Thread-safe. */
final class Targets {
  private final MongoClient destination;
  private final Map<String, Target> known = new ConcurrentHashMap<>();

  Targets(MongoClient destination) {
    this.destination = destination;
  }

  /**
   * Returns a collection. If the collection does not exist, the result has no shard key and is not
   * capped.
   *
   * @param namespace the name of the collection at the destination
   */
  Mono<Target> of(String namespace) {
    Target target = known.get(namespace);
    return target != null ? Mono.just(target) : read(namespace);
  }

  private Mono<Target> read(String namespace) {
    MongoNamespace name = new MongoNamespace(namespace);
    return options(name)
        .zipWith(
            shardKey(namespace),
            (options, shardKey) ->
                new Target(
                    name,
                    shardKey,
                    options.containsKey("collation"),
                    options.getBoolean("capped", BsonBoolean.FALSE).getValue()))
        .retryWhen(SourceReads.untilThere())
        .doOnNext(target -> known.put(namespace, target));
  }

  private Mono<BsonDocument> options(MongoNamespace name) {
    return SourceReads.listed(destination, name, Filters.eq("name", name.getCollectionName()))
        .map(found -> found.getDocument("options", new BsonDocument()))
        .defaultIfEmpty(new BsonDocument());
  }

  private Mono<List<String>> shardKey(String namespace) {
    return Mono.from(
            ClusterQueries.metadata(
                    destination, "collections", new BsonDocument("_id", new BsonString(namespace)))
                .first())
        .filter(
            entry ->
                !entry.getBoolean("dropped", BsonBoolean.FALSE).getValue()
                    && !entry.getBoolean("unsplittable", BsonBoolean.FALSE).getValue())
        .map(entry -> List.copyOf(entry.getDocument("key").keySet()))
        .defaultIfEmpty(List.of());
  }

  /** Forgets all collections, because metadata may have changed. */
  void forget() {
    known.clear();
  }
}
