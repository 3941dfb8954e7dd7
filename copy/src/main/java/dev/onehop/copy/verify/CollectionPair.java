package dev.onehop.copy.verify;

import org.bson.BsonDocument;
import org.jspecify.annotations.Nullable;

/**
 * Two collections whose documents are compared.
 *
 * @param filter of the documents of the source that the destination should have; null for all
 */
record CollectionPair(CollectionInfo from, CollectionInfo to, @Nullable BsonDocument filter) {

  /** As results have it: that of the source. */
  String namespace() {
    return from.namespace();
  }

  String keyField() {
    return from.keyField();
  }

  boolean isTimeSeries() {
    return from.isTimeSeries();
  }

  /** Whether the index of the key is in the order of values on both sides. */
  boolean isOrdered() {
    return !from.hasCollation() && !to.hasCollation();
  }

  /**
   * Whether a range can be read by itself. The times of a series can't: within an hour of the
   * beginning of 1970, seen on 6.0.5, a condition on them finds nothing.
   */
  boolean hasRanges() {
    return isOrdered() && !isTimeSeries();
  }

  /** Whether these are still the collections that another pair was. */
  boolean isSameAs(CollectionPair other) {
    return from.namespace().equals(other.from.namespace())
        && java.util.Objects.equals(from.uuid(), other.from.uuid())
        && java.util.Objects.equals(to.uuid(), other.to.uuid());
  }
}
