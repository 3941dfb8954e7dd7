package dev.onehop.core.table;

import java.util.HashMap;
import java.util.Map;
import org.bson.BsonDocument;
import org.bson.BsonString;
import org.bson.BsonValue;

/**
 * A reference to a shard in the config database: its name, or the UUID that newer servers assign.
 * During an upgrade of a cluster both kinds occur. Immutable.
 *
 * <p>Source: {@code ShardRef} in the server's {@code sharding_environment/shard_ref.h}.
 *
 * @param value a string or a UUID
 */
public record ShardId(BsonValue value) {

  /**
   * Reads a reference.
   *
   * @param document a document of the config database
   * @param field the field, such as {@code shard} or {@code primary}
   * @param where the document's collection, for messages
   * @throws InconsistentRoutingTableException if the field is neither a string nor a UUID
   */
  public static ShardId of(BsonDocument document, String field, String where) {
    BsonValue value = document.get(field);
    if (value == null || !(value.isString() || value.isBinary())) {
      throw ConfigFields.unknownLayout(document, field, "string or UUID", where);
    }
    return new ShardId(value);
  }

  /**
   * The names of a cluster's shards, by each kind of reference.
   *
   * @param shards the documents of {@code config.shards}
   */
  public static Map<ShardId, String> names(Iterable<? extends BsonDocument> shards) {
    Map<ShardId, String> names = new HashMap<>();
    for (BsonDocument shard : shards) {
      BsonString name = shard.getString("_id");
      names.put(new ShardId(name), name.getValue());
      if (shard.containsKey("uuid")) {
        names.put(of(shard, "uuid", "config.shards"), name.getValue());
      }
    }
    return Map.copyOf(names);
  }

  /**
   * The shard's name.
   *
   * @param names the result of {@link #names}; used for a UUID only
   * @throws InconsistentRoutingTableException if {@code names} lacks the UUID
   */
  public String name(Map<ShardId, String> names) {
    String name = value.isString() ? value.asString().getValue() : names.get(this);
    if (name == null) {
      throw new InconsistentRoutingTableException("no shard in config.shards has the UUID " + this);
    }
    return name;
  }

  /** The name, or the UUID in its usual form. */
  @Override
  public String toString() {
    return value.isString() ? value.asString().getValue() : value.asBinary().asUuid().toString();
  }
}
