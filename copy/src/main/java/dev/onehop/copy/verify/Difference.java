package dev.onehop.copy.verify;

import org.bson.BsonDocument;

/**
 * A key whose documents differ.
 *
 * @param namespace the collection of the source, {@code database.collection}
 * @param kind how the documents differ
 * @param key the field by which documents are matched, with its value: {@code _id}, or the time
 *     field of a time series
 */
public record Difference(String namespace, Kind kind, BsonDocument key) {

  /** How the documents of a key can differ. */
  public enum Kind {
    /** The destination has no document with the key, or fewer documents than the source. */
    MISSING,
    /** The source has no document with the key, or fewer documents than the destination. */
    EXTRA,
    /**
     * Both clusters have the same number of documents, but the bytes differ: a value, a type, or
     * the order of fields.
     */
    DIFFERENT
  }
}
