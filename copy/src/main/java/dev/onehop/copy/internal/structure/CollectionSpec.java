package dev.onehop.copy.internal.structure;

import dev.onehop.copy.internal.Mapping;
import java.util.List;
import java.util.Objects;
import org.bson.BsonBinary;
import org.bson.BsonBoolean;
import org.bson.BsonDocument;
import org.bson.BsonString;
import org.bson.BsonValue;
import org.jspecify.annotations.Nullable;

/**
 * The description of a collection or view.
 *
 * @param namespace the name at the source; for a time series not the name of its buckets
 * @param destination the name at the destination
 * @param kind the kind
 * @param uuid the UUID of the collection that stores the documents, which stays the same after a
 *     rename; null if the server reports no UUID
 * @param options the options that {@code listCollections} reports and {@code create} accepts
 * @param indexes the indexes as {@code listIndexes} reports them; for a collection to copy, without
 *     the index of {@code _id}
 * @param sharding the shard key; null if the collection is not sharded
 */
public record CollectionSpec(
    String namespace,
    String destination,
    Kind kind,
    @Nullable BsonBinary uuid,
    BsonDocument options,
    List<BsonDocument> indexes,
    @Nullable Sharding sharding) {
  /** The kind of a collection. */
  public enum Kind {
    COLLECTION,
    TIME_SERIES,
    VIEW
  }

  /**
   * The shard key and the zones of a collection.
   *
   * @param key the shard key; for a time series, with the fields of the measurements and not of the
   *     buckets
   * @param unique whether the key is unique
   * @param zones the collection's documents in {@code config.tags}
   */
  public record Sharding(BsonDocument key, boolean unique, List<BsonDocument> zones) {
    /** Copies the list. */
    public Sharding {
      zones = List.copyOf(zones);
    }

    /**
     * Whether servers split an empty collection evenly, because the first field of the shard key is
     * hashed.
     */
    public boolean isSplitByServers() {
      return key.values().iterator().next().isString();
    }
  }

  /** Copies the list. */
  public CollectionSpec {
    indexes = List.copyOf(indexes);
  }

  /** The collation that compares strings by their bytes. */
  public static final BsonDocument SIMPLE = new BsonDocument("locale", new BsonString("simple"));

  /** Whether a collation compares strings by their bytes. This is also true without a collation. */
  public static boolean isSimple(@Nullable BsonValue collation) {
    return collation == null
        || Objects.equals(SIMPLE.get("locale"), collation.asDocument().get("locale"));
  }

  CollectionSpec withIndexes(List<BsonDocument> others) {
    return new CollectionSpec(namespace, destination, kind, uuid, options, others, sharding);
  }

  /**
   * The name of the collection that stores the documents: the buckets of a time series, otherwise
   * the collection itself.
   */
  public String stored() {
    return stored(namespace, kind);
  }

  /** The name of the collection that stores the documents at the destination. */
  public String storedThere() {
    return stored(destination, kind);
  }

  static String stored(String namespace, Kind kind) {
    return kind == Kind.TIME_SERIES ? Mapping.buckets(namespace) : namespace;
  }

  /**
   * Whether the collection is capped: it keeps documents in the order of their insertion and
   * removes the oldest documents.
   */
  public boolean isCapped() {
    return options.getBoolean("capped", BsonBoolean.FALSE).getValue();
  }

  /** The default collation of the collection; null if strings compare by their bytes. */
  public @Nullable BsonDocument collation() {
    return options.isDocument("collation") ? options.getDocument("collation") : null;
  }
}
