package dev.onehop.copy.internal.structure;

import dev.onehop.copy.internal.Mapping;
import java.util.List;
import org.bson.BsonBinary;
import org.bson.BsonBoolean;
import org.bson.BsonDocument;
import org.jspecify.annotations.Nullable;

/**
 * A collection or view of the source.
 *
 * @param namespace at the source; of a time series its own, not that of its buckets
 * @param destination its name there
 * @param kind what it is
 * @param uuid of where its documents are, by which it is known when it is renamed; null if the
 *     server does not tell
 * @param options as {@code listCollections} tells them, and {@code create} takes them
 * @param indexes as {@code listIndexes} tells them; of what is to be copied without that of {@code
 *     _id}
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
  /** What it is. */
  public enum Kind {
    COLLECTION,
    TIME_SERIES,
    VIEW
  }

  /**
   * How it is sharded.
   *
   * @param key the pattern, of a time series that of its own fields
   * @param unique whether the key is unique
   * @param zones documents of {@code config.tags}
   */
  public record Sharding(BsonDocument key, boolean unique, List<BsonDocument> zones) {
    /** Takes a copy of the list. */
    public Sharding {
      zones = List.copyOf(zones);
    }

    /** Whether the servers themselves split an empty collection, evenly by the hash. */
    public boolean isSplitByServers() {
      return key.values().iterator().next().isString();
    }
  }

  /** Takes a copy of the list. */
  public CollectionSpec {
    indexes = List.copyOf(indexes);
  }

  CollectionSpec withIndexes(List<BsonDocument> others) {
    return new CollectionSpec(namespace, destination, kind, uuid, options, others, sharding);
  }

  /** Where its documents are: of a time series its bucket collection. */
  public String stored() {
    return stored(namespace, kind);
  }

  /** The same at the destination. */
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

  /** Its order of strings; null for that of their bytes. */
  public @Nullable BsonDocument collation() {
    return options.isDocument("collation") ? options.getDocument("collation") : null;
  }

  /** The name of a collection without its database. */
  static String nameOf(String namespace) {
    return namespace.substring(namespace.indexOf('.') + 1);
  }
}
