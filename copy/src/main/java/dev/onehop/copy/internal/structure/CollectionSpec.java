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
 * A collection or view of the source.
 *
 * @param namespace its name at the source; not the name of the buckets of a time series
 * @param destination its name at the destination
 * @param kind its kind
 * @param uuid the UUID of the collection with its documents, which identifies it after a rename;
 *     null if the server reports none
 * @param options as {@code listCollections} reports and {@code create} accepts them
 * @param indexes as {@code listIndexes} reports them; a collection to copy leaves out the index of
 *     {@code _id}
 * @param sharding null if it is not sharded
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
   * How it is sharded.
   *
   * @param key the pattern; for a time series, of its own fields
   * @param unique whether the key is unique
   * @param zones documents of {@code config.tags}
   */
  public record Sharding(BsonDocument key, boolean unique, List<BsonDocument> zones) {
    /** Takes a copy of the list. */
    public Sharding {
      zones = List.copyOf(zones);
    }

    /** Whether servers split an empty collection evenly by the hash. */
    public boolean isSplitByServers() {
      return key.values().iterator().next().isString();
    }
  }

  /** Takes a copy of the list. */
  public CollectionSpec {
    indexes = List.copyOf(indexes);
  }

  /** The collation that compares strings by their bytes. */
  public static final BsonDocument SIMPLE = new BsonDocument("locale", new BsonString("simple"));

  /** Whether a collation compares strings by their bytes, as no collation does. */
  public static boolean isSimple(@Nullable BsonValue collation) {
    return collation == null
        || Objects.equals(SIMPLE.get("locale"), collation.asDocument().get("locale"));
  }

  CollectionSpec withIndexes(List<BsonDocument> others) {
    return new CollectionSpec(namespace, destination, kind, uuid, options, others, sharding);
  }

  /** The collection with its documents: the buckets of a time series, or itself. */
  public String stored() {
    return stored(namespace, kind);
  }

  /** The collection with its documents at the destination. */
  public String storedThere() {
    return stored(destination, kind);
  }

  static String stored(String namespace, Kind kind) {
    return kind == Kind.TIME_SERIES ? Mapping.buckets(namespace) : namespace;
  }

  /** Whether it keeps its documents in the order of their insertion and drops the oldest. */
  public boolean isCapped() {
    return options.getBoolean("capped", BsonBoolean.FALSE).getValue();
  }

  /** Its collation; null for the order of bytes. */
  public @Nullable BsonDocument collation() {
    return options.isDocument("collation") ? options.getDocument("collation") : null;
  }

  /** The name of a collection without its database. */
  static String nameOf(String namespace) {
    return namespace.substring(namespace.indexOf('.') + 1);
  }
}
