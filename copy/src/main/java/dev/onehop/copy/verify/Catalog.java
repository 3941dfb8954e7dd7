package dev.onehop.copy.verify;

import com.mongodb.MongoCommandException;
import dev.onehop.copy.internal.Mapping;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Predicate;
import org.bson.BsonDocument;
import org.bson.BsonValue;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;

/** Reads which collections a cluster has, and all about them but documents. */
final class Catalog {
  private static final int NAMESPACE_NOT_FOUND = 26;

  private final Endpoint endpoint;

  Catalog(Endpoint endpoint) {
    this.endpoint = endpoint;
  }

  /**
   * The collections, by namespace.
   *
   * @param database which databases are looked into
   * @param namespace which of their collections are wanted
   */
  SortedMap<String, CollectionInfo> read(Predicate<String> database, Predicate<String> namespace)
      throws InterruptedException {
    return Servers.retrying(
        () -> {
          Map<String, BsonDocument> shardKeys = shardKeys();
          SortedMap<String, CollectionInfo> found = new TreeMap<>();
          for (String name : all(Flux.from(endpoint.client().listDatabaseNames()))) {
            if (database.test(name)) {
              for (BsonDocument entry :
                  all(Flux.from(endpoint.metadata(name).listCollections(BsonDocument.class)))) {
                String full = name + "." + entry.getString("name").getValue();
                if (namespace.test(full)) {
                  CollectionInfo info = info(name, entry, shardKeys);
                  if (info != null) {
                    found.put(full, info);
                  }
                }
              }
            }
          }
          return found;
        });
  }

  private static <T> List<T> all(Flux<T> values) {
    return Objects.requireNonNull(Servers.one(values.collectList()));
  }

  private Map<String, BsonDocument> shardKeys() {
    Map<String, BsonDocument> keys = new HashMap<>();
    if (endpoint.isSharded()) {
      for (BsonDocument entry :
          all(
              Flux.from(
                  endpoint
                      .metadata("config")
                      .getCollection("collections", BsonDocument.class)
                      .find()))) {
        // From 8.0 on, there are entries of collections that are not sharded.
        if (!isTrue(entry.get("unsplittable")) && !isTrue(entry.get("dropped"))) {
          BsonDocument key = new BsonDocument("key", entry.getDocument("key"));
          key.append("unique", entry.getBoolean("unique", org.bson.BsonBoolean.FALSE));
          keys.put(entry.getString("_id").getValue(), key);
        }
      }
    }
    return keys;
  }

  private static boolean isTrue(@Nullable BsonValue flag) {
    return flag != null && flag.isBoolean() && flag.asBoolean().getValue();
  }

  /** Null if it is gone meanwhile. */
  private @Nullable CollectionInfo info(
      String database, BsonDocument entry, Map<String, BsonDocument> shardKeys) {
    String name = entry.getString("name").getValue();
    String type = entry.getString("type").getValue();
    List<BsonDocument> indexes = new ArrayList<>();
    if (!type.equals("view")) {
      try {
        indexes =
            all(
                Flux.from(
                    endpoint
                        .metadata(database)
                        .getCollection(name)
                        .listIndexes(BsonDocument.class)));
      } catch (MongoCommandException e) {
        if (e.getErrorCode() == NAMESPACE_NOT_FOUND) {
          return null;
        }
        throw e;
      }
    }
    String namespace = database + "." + name;
    BsonDocument shardKey = shardKeys.get(namespace);
    return new CollectionInfo(
        namespace,
        type,
        entry.getDocument("options", new BsonDocument()),
        entry.getDocument("info", new BsonDocument()).isBinary("uuid")
            ? entry.getDocument("info").getBinary("uuid")
            : null,
        indexes,
        shardKey == null ? shardKeys.get(Mapping.buckets(namespace)) : shardKey);
  }
}
