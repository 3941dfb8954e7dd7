package dev.onehop.copy.internal.state;

import com.mongodb.MongoException;
import com.mongodb.ReadConcern;
import com.mongodb.ReadPreference;
import com.mongodb.reactivestreams.client.MongoClient;
import com.mongodb.reactivestreams.client.MongoCollection;
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
import reactor.util.function.Tuple2;
import reactor.util.function.Tuples;

/**
 * A document on every shard of the destination, in a sharded collection with a chunk on each shard.
 * A replica set has one document. Thread-safe.
 */
final class FencePlaces {
  private static final String ID = "_id";

  // A minute, with the pauses.
  private static final int TRIES = 600;
  private static final Duration PAUSE = Duration.ofMillis(100);

  private final MongoClient destination;
  private final String namespace;
  private final AtomicReference<@Nullable Mono<Void>> completing = new AtomicReference<>();

  /**
   * @param ids by the shard's name, the id of its document, which may not be written yet
   * @param chunks the collection's chunks with their versions; empty for a replica set
   */
  record Places(Map<String, BsonInt32> ids, List<BsonDocument> chunks) {}

  /** Some shards have no document of the fence. */
  private static final class MissingException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    MissingException() {
      super("some shards have no place of the fence", null, false, false);
    }
  }

  FencePlaces(MongoClient destination, String namespace) {
    this.destination = destination;
    this.namespace = namespace;
  }

  /** The places now. Shards without a place receive one first. */
  Mono<Places> get() {
    return isSharded()
        .flatMap(
            sharded ->
                sharded
                    ? read()
                        .onErrorResume(
                            MissingException.class,
                            missing -> completion().then(Mono.defer(this::read)))
                    : Mono.just(new Places(Map.of("", new BsonInt32(0)), List.of())))
        .retryWhen(Waits.retry(Waits::isPassing));
  }

  /** Adds missing places. Lanes that need it at the same time share one run. */
  private Mono<Void> completion() {
    return Mono.defer(
        () -> {
          Mono<Void> mine = shardCollection().then(Mono.defer(() -> complete(1))).cache();
          Mono<Void> running = completing.updateAndGet(old -> old == null ? mine : old);
          return running.doFinally(end -> completing.compareAndSet(running, null));
        });
  }

  /**
   * The present shards; one name for a replica set. A shard that is being removed does not count:
   * the balancer would move its chunk away.
   */
  Mono<Set<String>> shards() {
    return isSharded()
        .flatMap(
            sharded ->
                sharded
                    ? all("shards", new BsonDocument()).map(FencePlaces::staying)
                    : Mono.just(Set.of("")))
        .retryWhen(Waits.retry(Waits::isPassing));
  }

  private Mono<Boolean> isSharded() {
    return run(new BsonDocument("hello", new BsonInt32(1)))
        .map(hello -> new BsonString("isdbgrid").equals(hello.get("msg")));
  }

  private Mono<Void> shardCollection() {
    String database = namespace.substring(0, namespace.indexOf('.'));
    return entry()
        .switchIfEmpty(
            // Servers before 6.0 need enableSharding first.
            run(new BsonDocument("enableSharding", new BsonString(database)))
                .then(
                    run(
                        new BsonDocument("shardCollection", new BsonString(namespace))
                            .append("key", new BsonDocument(ID, new BsonInt32(1))))))
        .then();
  }

  private Mono<BsonDocument> entry() {
    return all("collections", new BsonDocument(ID, new BsonString(namespace)))
        .flatMap(found -> Mono.justOrEmpty(found.stream().findFirst()));
  }

  private Mono<List<BsonDocument>> chunks() {
    // Chunks name their collection by its UUID, before 5.0 by its name.
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
    return found()
        .flatMap(
            found ->
                found.getT1().ids().keySet().containsAll(found.getT2())
                    ? Mono.just(found.getT1())
                    : Mono.error(new MissingException()));
  }

  /** The places, and the shards that need one. */
  private Mono<Tuple2<Places, Set<String>>> found() {
    return Mono.zip(chunks(), all("shards", new BsonDocument()))
        .map(read -> Tuples.of(places(read.getT1(), read.getT2()), staying(read.getT2())));
  }

  static Places places(List<BsonDocument> chunks, List<BsonDocument> shards) {
    Map<ShardId, String> names = ShardId.names(shards);
    Map<String, BsonInt32> ids = new TreeMap<>();
    chunks.forEach(
        chunk -> ids.put(ShardId.of(chunk, "shard", "config.chunks").name(names), within(chunk)));
    return new Places(ids, chunks);
  }

  private Mono<Void> complete(int tries) {
    return found()
        .flatMap(
            found -> {
              Places places = found.getT1();
              Set<String> missing = new TreeSet<>(found.getT2());
              missing.removeAll(places.ids().keySet());
              int last = 0;
              for (BsonDocument chunk : places.chunks()) {
                last = Math.max(last, within(chunk).getValue());
              }
              return missing.isEmpty()
                  ? Mono.empty()
                  : place(missing.iterator().next(), last + 1)
                      // The balancer may have moved the chunk to split.
                      .onErrorResume(
                          failure -> failure instanceof MongoException && tries < TRIES,
                          overtaken -> Mono.delay(PAUSE).then())
                      .then(Mono.defer(() -> complete(tries + 1)));
            });
  }

  /** Splits the chunk without an upper bound, and moves its upper part. */
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

  /** A number in a chunk. Chunks are only split at numbers from 0. */
  private static BsonInt32 within(BsonDocument chunk) {
    BsonValue min = chunk.getDocument("min").get(ID);
    BsonValue max = chunk.getDocument("max").get(ID);
    if (min instanceof BsonInt32 number) {
      return number;
    }
    return new BsonInt32(max instanceof BsonInt32 number ? number.getValue() - 1 : 0);
  }

  private Mono<List<BsonDocument>> all(String collection, BsonDocument filter) {
    MongoCollection<BsonDocument> entries =
        destination
            .getDatabase("config")
            .getCollection(collection, BsonDocument.class)
            .withReadPreference(ReadPreference.primary())
            .withReadConcern(ReadConcern.MAJORITY);
    return Flux.from(entries.find(filter).sort(new BsonDocument(ID, new BsonInt32(1))))
        .collectList();
  }

  private Mono<BsonDocument> run(BsonDocument command) {
    return Mono.from(destination.getDatabase("admin").runCommand(command, BsonDocument.class));
  }
}
