package dev.onehop.copy.verify;

import dev.onehop.copy.internal.structure.CollectionSpec;
import dev.onehop.copy.internal.structure.CollectionSpec.Kind;
import java.util.Objects;
import org.bson.BsonDocument;
import org.jspecify.annotations.Nullable;

/**
 * Two collections whose documents are compared.
 *
 * @param filter of the documents of the source that the destination should have; null for all
 */
record CollectionPair(CollectionSpec from, CollectionSpec to, @Nullable BsonDocument filter) {

  /** The namespace in results: the source's. */
  String namespace() {
    return from.namespace();
  }

  /** The field whose values order and match documents. */
  String keyField() {
    return keyField(from);
  }

  static String keyField(CollectionSpec of) {
    return of.kind() == Kind.TIME_SERIES
        ? of.options().getDocument("timeseries").getString("timeField").getValue()
        : "_id";
  }

  boolean isTimeSeries() {
    return from.kind() == Kind.TIME_SERIES;
  }

  /** Whether the index of the key has the order of values on both sides, without a collation. */
  boolean isOrdered() {
    return CollectionSpec.isSimple(from.collation()) && CollectionSpec.isSimple(to.collation());
  }

  /**
   * Whether a range can be read by itself. A range of times can't: on 6.0.5, a condition on times
   * within an hour of the start of 1970 finds nothing.
   */
  boolean hasRanges() {
    return isOrdered() && !isTimeSeries();
  }

  /** Whether both pairs have the same collections, by name and UUID. */
  boolean isSameAs(CollectionPair other) {
    return from.namespace().equals(other.from.namespace())
        && Objects.equals(from.uuid(), other.from.uuid())
        && Objects.equals(to.uuid(), other.to.uuid());
  }
}
