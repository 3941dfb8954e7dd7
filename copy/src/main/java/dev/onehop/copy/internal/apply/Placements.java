package dev.onehop.copy.internal.apply;

import com.mongodb.MongoException;
import com.mongodb.ReadConcern;
import com.mongodb.reactivestreams.client.MongoClient;
import com.mongodb.reactivestreams.client.MongoCollection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import org.bson.BsonArray;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonNull;
import org.bson.BsonString;
import org.bson.BsonValue;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Finds out whether ranges of the destination have moved while a transaction was at work.
 *
 * <p>A shard reads in a transaction as of its first statement there. If it gets a range after that,
 * and the router knows of it, the shard takes a later statement for the range and does not see its
 * documents: a delete removes nothing, and the transaction commits (SERVER-77506, mended in later
 * releases of the server). So the version of each collection is read before a transaction begins
 * and again before it commits, and must be the same. A router learns of a move by what a majority
 * of the config servers has, so that the second read sees it, too.
 *
 * <p>Thread-safe.
 */
final class Placements {
  private static final String ID = "_id";

  private final MongoClient destination;
  private final Mono<Boolean> sharded;
  private final Map<String, BsonValue> known = new ConcurrentHashMap<>();

  Placements(MongoClient destination) {
    this.destination = destination;
    this.sharded =
        Mono.defer(
                () ->
                    Mono.from(
                        destination
                            .getDatabase("admin")
                            .runCommand(
                                new BsonDocument("hello", new BsonInt32(1)), BsonDocument.class)))
            .map(hello -> new BsonString("isdbgrid").equals(hello.get("msg")))
            .cacheInvalidateIf(is -> false);
  }

  /**
   * The versions as they were at some time before now.
   *
   * @param namespaces of collections
   * @return empty for a replica set, in which nothing moves
   */
  Mono<Map<String, BsonValue>> before(Set<String> namespaces) {
    Map<String, BsonValue> found = new HashMap<>();
    for (String name : names(namespaces)) {
      BsonValue version = known.get(name);
      if (version == null) {
        return now(namespaces);
      }
      found.put(name, version);
    }
    return Mono.just(found);
  }

  /** The versions as they are now. */
  Mono<Map<String, BsonValue>> now(Set<String> namespaces) {
    if (namespaces.isEmpty()) {
      return Mono.just(Map.of());
    }
    return sharded.flatMap(
        is -> is ? read(namespaces).doOnNext(known::putAll) : Mono.just(Map.of()));
  }

  /** Of a transaction that has to begin anew. */
  static MongoException moved() {
    MongoException again =
        new MongoException("ranges of the destination have moved during the transaction");
    again.addLabel(MongoException.TRANSIENT_TRANSACTION_ERROR_LABEL);
    return again;
  }

  private Mono<Map<String, BsonValue>> read(Set<String> namespaces) {
    Mono<Map<String, BsonValue>> ofCollections =
        versions(config("collections").aggregate(collections(namespaces)));
    Mono<Map<String, BsonValue>> ofDatabases =
        versions(
            config("databases")
                .find(in(databases(namespaces)))
                .projection(new BsonDocument("version", new BsonInt32(1))));
    return Mono.zip(
        ofCollections,
        ofDatabases,
        (some, others) -> {
          Map<String, BsonValue> all = new HashMap<>();
          names(namespaces).forEach(name -> all.put(name, BsonNull.VALUE));
          all.putAll(some);
          all.putAll(others);
          return all;
        });
  }

  private static Mono<Map<String, BsonValue>> versions(Publisher<BsonDocument> entries) {
    return Flux.from(entries)
        .collectMap(entry -> entry.getString(ID).getValue(), entry -> (BsonValue) entry);
  }

  private MongoCollection<BsonDocument> config(String collection) {
    return destination
        .getDatabase("config")
        .getCollection(collection, BsonDocument.class)
        .withReadConcern(ReadConcern.MAJORITY);
  }

  private static Set<String> databases(Set<String> namespaces) {
    return namespaces.stream()
        .map(namespace -> namespace.substring(0, namespace.indexOf('.')))
        .collect(Collectors.toCollection(TreeSet::new));
  }

  private static Set<String> names(Set<String> namespaces) {
    Set<String> names = new TreeSet<>(namespaces);
    names.addAll(databases(namespaces));
    return names;
  }

  private static BsonDocument in(Set<String> ids) {
    return new BsonDocument(
        ID,
        new BsonDocument("$in", new BsonArray(ids.stream().map(BsonString::new).toList())));
  }

  /** Each collection's incarnation and the latest version of its chunks. */
  private static List<BsonDocument> collections(Set<String> namespaces) {
    return List.of(
        new BsonDocument("$match", in(namespaces)),
        BsonDocument.parse(
            """
            {$lookup: {
              from: "chunks",
              let: {uuid: "$uuid"},
              pipeline: [
                {$match: {$expr: {$eq: ["$uuid", "$$uuid"]}}},
                {$sort: {lastmod: -1}},
                {$limit: 1},
                {$project: {_id: 0, lastmod: 1}}],
              as: "latest"}}\
            """),
        BsonDocument.parse("{$project: {uuid: 1, latest: 1}}"));
  }
}
