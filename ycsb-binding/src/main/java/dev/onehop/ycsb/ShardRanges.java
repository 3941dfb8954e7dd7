package dev.onehop.ycsb;

import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.client.MongoDatabase;
import com.mongodb.client.model.Filters;
import dev.onehop.core.table.ShardId;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import org.bson.BsonDocument;
import org.bson.BsonValue;

/**
 * Finds the shard of a record by the ranges of a collection that is sharded by {@code _id}. The
 * ranges are read once; later migrations are not noticed. Immutable and thread-safe.
 */
final class ShardRanges {
  private final NavigableMap<String, String> shards;

  private ShardRanges(NavigableMap<String, String> shards) {
    this.shards = shards;
  }

  /**
   * Reads a collection's ranges from the cluster's metadata.
   *
   * @throws IllegalStateException if the collection is not sharded by {@code _id}
   * @throws com.mongodb.MongoException if the metadata cannot be read
   */
  static ShardRanges read(BindingOptions options, String collection) {
    NavigableMap<String, String> found = new TreeMap<>();
    try (MongoClient cluster = MongoClients.create(options.clientSettings())) {
      MongoDatabase config = cluster.getDatabase("config");
      String namespace = options.database() + "." + collection;
      BsonDocument entry =
          config
              .getCollection("collections", BsonDocument.class)
              .find(Filters.eq(namespace))
              .first();
      if (entry == null || !entry.getDocument("key").getFirstKey().equals("_id")) {
        throw new IllegalStateException(namespace + " is not sharded by _id");
      }
      Map<ShardId, String> names =
          ShardId.names(config.getCollection("shards", BsonDocument.class).find());
      for (BsonDocument chunk :
          config
              .getCollection("chunks", BsonDocument.class)
              .find(Filters.eq("uuid", entry.get("uuid")))) {
        BsonValue from = chunk.getDocument("min").get("_id");
        // The lowest bound is MinKey. All keys are strings, so the empty string replaces it.
        found.put(
            from != null && from.isString() ? from.asString().getValue() : "",
            ShardId.of(chunk, "shard", "config.chunks").name(names));
      }
    }
    return new ShardRanges(found);
  }

  /** The shard of the record with this key. */
  String shard(String key) {
    return shards.floorEntry(key).getValue();
  }
}
