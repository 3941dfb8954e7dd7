package dev.onehop.copy.verify;

import org.bson.BsonDocument;

/**
 * Documents that differ.
 *
 * @param namespace of the source, {@code database.collection}
 * @param kind how they differ
 * @param key the field by which documents were matched and its value: {@code _id}, or the time of a
 *     time series
 */
public record Difference(String namespace, Kind kind, BsonDocument key) {

  /** How the documents of a key can differ. */
  public enum Kind {
    /** The destination has none, or fewer than the source. */
    MISSING,
    /** The source has none, or fewer than the destination. */
    EXTRA,
    /** Both have the same number, but with other bytes: a value, a type, or the order of fields. */
    DIFFERENT
  }
}
