package dev.onehop.core.table;

import org.bson.BsonBinary;
import org.bson.BsonDocument;
import org.bson.BsonTimestamp;
import org.bson.types.ObjectId;
import org.jspecify.annotations.Nullable;

/**
 * A document of {@code config.collections}.
 *
 * @param namespace database and collection
 * @param epoch the collection's incarnation
 * @param timestamp the second id of this incarnation, which exists from MongoDB 5.0 on; null before
 * @param uuid the collection's UUID; null if the server omits it
 * @param key the shard key pattern
 * @param defaultCollation the default collation; null for the simple collation
 * @param unsplittable whether the collection is tracked but not sharded (8.0)
 */
record CollectionEntry(
    String namespace,
    ObjectId epoch,
    @Nullable BsonTimestamp timestamp,
    @Nullable BsonBinary uuid,
    ShardKeyPattern key,
    @Nullable BsonDocument defaultCollation,
    boolean unsplittable) {
  private static final String WHERE = "config.collections";

  static CollectionEntry of(BsonDocument collection) {
    String namespace = ConfigFields.string(collection, "_id", WHERE);
    if (ConfigFields.flag(collection, "dropped", WHERE)) {
      throw new InconsistentRoutingTableException(namespace + " is dropped");
    }
    BsonDocument collation =
        collection.isDocument("defaultCollation")
            ? collection.getDocument("defaultCollation")
            : new BsonDocument();
    return new CollectionEntry(
        namespace,
        ConfigFields.objectId(collection, "lastmodEpoch", WHERE),
        collection.isTimestamp("timestamp") ? collection.getTimestamp("timestamp") : null,
        collection.isBinary("uuid") ? collection.getBinary("uuid") : null,
        ShardKeyPattern.of(ConfigFields.document(collection, "key", WHERE)),
        collation.isEmpty() ? null : collation,
        ConfigFields.flag(collection, "unsplittable", WHERE));
  }

  /** Refuses the entry of another collection or of another incarnation. */
  void requireSameIncarnation(CollectionEntry newer) {
    if (!namespace.equals(newer.namespace)) {
      throw new InconsistentRoutingTableException(
          "a table of " + namespace + " can't take changes of " + newer.namespace);
    }
    boolean same =
        (timestamp != null && newer.timestamp != null)
            ? timestamp.equals(newer.timestamp)
            : epoch.equals(newer.epoch);
    if (!same || !key.equals(newer.key)) {
      throw new InconsistentRoutingTableException(
          namespace
              + " has another incarnation now: "
              + incarnation()
              + " became "
              + newer.incarnation());
    }
  }

  private String incarnation() {
    return "epoch " + epoch + (timestamp == null ? "" : ", " + timestamp) + ", key " + key;
  }
}
