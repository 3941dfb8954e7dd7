package dev.onehop.ycsb;

import com.mongodb.MongoClientSettings;
import com.mongodb.ServerAddress;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.client.MongoDatabase;
import com.mongodb.client.model.Filters;
import com.mongodb.client.model.WriteModel;
import com.mongodb.client.result.DeleteResult;
import com.mongodb.client.result.UpdateResult;
import com.mongodb.connection.ClusterConnectionMode;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import org.bson.BsonDocument;
import org.bson.BsonValue;
import org.jspecify.annotations.Nullable;

/**
 * A store for each shard, used by the range that a record is in. It shows how fast the official
 * driver is without a router: ranges are read once, and nothing protects from one that moves. For
 * collections that are sharded by {@code _id}, on a cluster without users and TLS, whose shards
 * have one member each.
 */
final class StraightStore implements DocumentStore {
  private final Map<String, DocumentStore> shards;
  private final Function<String, NavigableMap<String, DocumentStore>> reader;
  private final Map<String, NavigableMap<String, DocumentStore>> ranges = new ConcurrentHashMap<>();

  private StraightStore(
      Map<String, DocumentStore> shards,
      Function<String, NavigableMap<String, DocumentStore>> reader) {
    this.shards = shards;
    this.reader = reader;
  }

  /**
   * @param stores makes a store on one server
   */
  static StraightStore open(
      BindingOptions options, Function<MongoClientSettings, DocumentStore> stores) {
    Map<String, DocumentStore> shards = new HashMap<>();
    try (MongoClient cluster = MongoClients.create(options.clientSettings())) {
      for (BsonDocument shard :
          config(cluster).getCollection("shards", BsonDocument.class).find()) {
        String host = shard.getString("host").getValue().replaceFirst(".*/", "");
        shards.put(
            shard.getString("_id").getValue(),
            stores.apply(
                MongoClientSettings.builder(options.clientSettings())
                    .applyToClusterSettings(
                        to ->
                            to.mode(ClusterConnectionMode.SINGLE)
                                .hosts(List.of(new ServerAddress(host))))
                    .build()));
      }
    }
    return new StraightStore(shards, collection -> ranges(options, collection, shards));
  }

  private static MongoDatabase config(MongoClient cluster) {
    return cluster.getDatabase("config");
  }

  private static NavigableMap<String, DocumentStore> ranges(
      BindingOptions options, String collection, Map<String, DocumentStore> shards) {
    NavigableMap<String, DocumentStore> found = new TreeMap<>();
    try (MongoClient cluster = MongoClients.create(options.clientSettings())) {
      String namespace = options.database() + "." + collection;
      BsonDocument entry =
          config(cluster)
              .getCollection("collections", BsonDocument.class)
              .find(Filters.eq(namespace))
              .first();
      if (entry == null) {
        throw new IllegalStateException(namespace + " is not sharded");
      }
      for (BsonDocument chunk :
          config(cluster)
              .getCollection("chunks", BsonDocument.class)
              .find(Filters.eq("uuid", entry.get("uuid")))) {
        BsonValue from = chunk.getDocument("min").get("_id");
        // The lowest key is no string, and keys are.
        found.put(
            from != null && from.isString() ? from.asString().getValue() : "",
            shards.get(chunk.getString("shard").getValue()));
      }
    }
    return found;
  }

  private DocumentStore owner(String collection, BsonDocument filter) {
    return ranges
        .computeIfAbsent(collection, reader)
        .floorEntry(filter.getString("_id").getValue())
        .getValue();
  }

  @Override
  public void ping() {
    shards.values().forEach(DocumentStore::ping);
  }

  @Override
  public @Nullable BsonDocument findOne(
      String collection, BsonDocument filter, @Nullable BsonDocument projection) {
    return owner(collection, filter).findOne(collection, filter, projection);
  }

  @Override
  public List<BsonDocument> findOrdered(
      String collection, BsonDocument filter, @Nullable BsonDocument projection, int limit) {
    throw ofOneShardOnly();
  }

  @Override
  public void insert(String collection, BsonDocument document) {
    owner(collection, document).insert(collection, document);
  }

  @Override
  public void upsert(String collection, BsonDocument filter, BsonDocument document) {
    owner(collection, filter).upsert(collection, filter, document);
  }

  @Override
  public UpdateResult update(String collection, BsonDocument filter, BsonDocument update) {
    return owner(collection, filter).update(collection, filter, update);
  }

  @Override
  public DeleteResult delete(String collection, BsonDocument filter) {
    return owner(collection, filter).delete(collection, filter);
  }

  @Override
  public void bulkWrite(String collection, List<? extends WriteModel<BsonDocument>> writes) {
    throw ofOneShardOnly();
  }

  private static UnsupportedOperationException ofOneShardOnly() {
    return new UnsupportedOperationException("without a router, operations are of one shard");
  }

  @Override
  public Map<String, Long> routes() {
    return Map.of();
  }

  @Override
  public void close() {
    shards.values().forEach(DocumentStore::close);
  }
}
