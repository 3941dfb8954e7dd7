package dev.onehop.copy.verify;

import org.bson.BsonDocument;

/**
 * Documents that differ.
 *
 * @param namespace of the source, {@code database.collection}
 * @param kind what is wrong
 * @param key the field by which documents were matched and its value: {@code _id}, or the time of a
 *     time series
 */
public record Difference(String namespace, Kind kind, BsonDocument key) {

  /** What can be wrong with the documents of a key. */
  public enum Kind {
    /** The destination has none, or fewer than the source. */
    MISSING,
    /** The source has none, or fewer than the destination. */
    EXTRA,
    /** Both have as many, but with other bytes: a value, a type, or the order of fields. */
    DIFFERENT
  }
}
