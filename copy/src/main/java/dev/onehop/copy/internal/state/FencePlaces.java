package dev.onehop.copy.internal.state;

import com.mongodb.MongoException;
import com.mongodb.reactivestreams.client.MongoClient;
import dev.onehop.copy.internal.KeyFields;
import dev.onehop.copy.internal.Mapping;
import dev.onehop.copy.internal.cluster.ClusterQueries;
import dev.onehop.copy.internal.cluster.Waits;
import dev.onehop.core.table.ShardId;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicReference;
import org.bson.BsonBoolean;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonString;
import org.bson.BsonValue;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Maintains the fence's documents: one document on every shard of the destination, or one document
 * in a replica set. They are in a sharded collection, which has a chunk on each shard. Thread-safe.
 */
final class FencePlaces {
  private static final String ID = "_id";

  // With the pauses between the tries, this is one minute.
  private static final int TRIES = 600;
  private static final Duration PAUSE = Duration.ofMillis(100);

  private final MongoClient destination;
  private final String namespace;
  private final AtomicReference<@Nullable Mono<Places>> completing = new AtomicReference<>();

  /**
   * @param ids the ids of the documents by the names of their shards. An id has no document until a
   *     lane writes it
   * @param chunks the chunks of the fence's collection with their versions; empty for a replica set
   * @param missing the names of the shards that need a chunk
   */
  record Places(Map<String, BsonInt32> ids, List<BsonDocument> chunks, Set<String> missing) {}

  FencePlaces(MongoClient destination, String namespace) {
    this.destination = destination;
    this.namespace = namespace;
  }

  /** First moves a chunk to each shard that has none. Then returns the documents and chunks. */
  Mono<Places> get() {
    return ifSharded(
        read().flatMap(found -> found.missing().isEmpty() ? Mono.just(found) : completed()),
        new Places(Map.of("", new BsonInt32(0)), List.of(), Set.of()));
  }

  private <T> Mono<T> ifSharded(Mono<T> ofShards, T ofReplicaSet) {
    return ClusterQueries.isSharded(destination)
        .flatMap(sharded -> sharded ? ofShards : Mono.just(ofReplicaSet))
        .retryWhen(Waits.retry(Waits::isPassing));
  }

  /**
   * Moves a chunk to each shard that has none. If several lanes need such a move at the same time,
   * it runs only once.
   */
  private Mono<Places> completed() {
    Mono<Places> mine = shardCollection().then(Mono.defer(() -> complete(1))).cache();
    Mono<Places> running = completing.updateAndGet(old -> old == null ? mine : old);
    return running.doFinally(end -> completing.compareAndSet(running, null));
  }

  /**
   * The names of the current shards; a set with the empty name for a replica set. A shard that is
   * being removed is left out, because the balancer would move its chunk away.
   */
  Mono<Set<String>> shards() {
    return ifSharded(all("shards", new BsonDocument()).map(FencePlaces::staying), Set.of(""));
  }

  private Mono<Void> shardCollection() {
    String database = Mapping.databaseOf(namespace);
    return entry()
        .switchIfEmpty(
            // Servers before 6.0 need enableSharding first.
            run(new BsonDocument("enableSharding", new BsonString(database)))
                .then(
                    run(
                        new BsonDocument("shardCollection", new BsonString(namespace))
                            .append("key", KeyFields.BY_ID))))
        .then();
  }

  private Mono<BsonDocument> entry() {
    return all("collections", new BsonDocument(ID, new BsonString(namespace)))
        .flatMap(found -> Mono.justOrEmpty(found.stream().findFirst()));
  }

  private Mono<List<BsonDocument>> chunks() {
    // An entry of config.chunks names its collection by the UUID, before 5.0 by the name.
    return entry()
        .flatMap(
            entry ->
                all(
                    "chunks",
                    entry.containsKey("timestamp")
                        ? new BsonDocument("uuid", entry.get("uuid"))
                        : new BsonDocument("ns", new BsonString(namespace))))
        .defaultIfEmpty(List.of());
  }

  private static Set<String> staying(List<BsonDocument> shards) {
    Set<String> names = new TreeSet<>();
    for (BsonDocument shard : shards) {
      if (!BsonBoolean.TRUE.equals(shard.get("draining"))) {
        names.add(shard.getString(ID).getValue());
      }
    }
    return names;
  }

  private Mono<Places> read() {
    return chunks().zipWith(all("shards", new BsonDocument()), FencePlaces::places);
  }

  static Places places(List<BsonDocument> chunks, List<BsonDocument> shards) {
    Map<ShardId, String> names = ShardId.names(shards);
    Map<String, BsonInt32> ids = new TreeMap<>();
    chunks.forEach(
        chunk -> ids.put(ShardId.of(chunk, "shard", "config.chunks").name(names), within(chunk)));
    Set<String> missing = staying(shards);
    missing.removeAll(ids.keySet());
    return new Places(ids, chunks, missing);
  }

  private Mono<Places> complete(int tries) {
    return read()
        .flatMap(
            found -> {
              if (found.missing().isEmpty()) {
                return Mono.just(found);
              }
              int last = 0;
              for (BsonDocument chunk : found.chunks()) {
                last = Math.max(last, within(chunk).getValue());
              }
              return place(found.missing().iterator().next(), last + 1)
                  // The balancer may have moved the chunk that is to be split. The next try reads
                  // the chunks again.
                  .onErrorResume(
                      failure -> failure instanceof MongoException && tries < TRIES,
                      overtaken -> Mono.delay(PAUSE).then())
                  .then(Mono.defer(() -> complete(tries + 1)));
            });
  }

  /** Splits the last chunk at a number, and moves the upper part to a shard. */
  private Mono<Void> place(String shard, int from) {
    BsonDocument point = new BsonDocument(ID, new BsonInt32(from));
    return run(new BsonDocument("split", new BsonString(namespace)).append("middle", point))
        .then(
            run(
                new BsonDocument("moveChunk", new BsonString(namespace))
                    .append("find", point)
                    .append("to", new BsonString(shard))))
        .then();
  }

  /** The id of a document in a chunk. Chunks are split only at numbers from 0 on. */
  private static BsonInt32 within(BsonDocument chunk) {
    BsonValue min = chunk.getDocument("min").get(ID);
    BsonValue max = chunk.getDocument("max").get(ID);
    if (min instanceof BsonInt32 number) {
      return number;
    }
    return new BsonInt32(max instanceof BsonInt32 number ? number.getValue() - 1 : 0);
  }

  private Mono<List<BsonDocument>> all(String collection, BsonDocument filter) {
    return Flux.from(ClusterQueries.metadata(destination, collection, filter).sort(KeyFields.BY_ID))
        .collectList();
  }

  private Mono<BsonDocument> run(BsonDocument command) {
    return ClusterQueries.admin(destination, command);
  }
}
