package dev.onehop.copy.verify;

import dev.onehop.copy.internal.structure.CollectionSpec;
import dev.onehop.copy.internal.structure.CollectionSpec.Kind;
import java.util.Objects;
import org.bson.BsonDocument;
import org.jspecify.annotations.Nullable;

/**
 * Two collections whose documents are compared.
 *
 * @param from the collection at the source
 * @param to the collection at the destination
 * @param filter matches the documents of the source that the destination should have; null for all
 *     documents
 */
record CollectionPair(CollectionSpec from, CollectionSpec to, @Nullable BsonDocument filter) {

  /** The namespace of the source's collection, by which results name the pair. */
  String namespace() {
    return from.namespace();
  }

  /** The field by which documents are sorted and matched. */
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

  /**
   * Whether a range of keys can be read alone: both collections order their keys without a
   * collation, and are not time series. A range of a time series can't be read alone, because
   * conditions on times are not reliable. For example, servers of version 6.0.5 find no document in
   * the first hour of 1970.
   */
  boolean hasRanges() {
    return !isTimeSeries()
        && CollectionSpec.isSimple(from.collation())
        && CollectionSpec.isSimple(to.collation());
  }

  /** Whether another pair has the same collections, by name and UUID. */
  boolean isSameAs(CollectionPair other) {
    return from.namespace().equals(other.from.namespace())
        && Objects.equals(from.uuid(), other.from.uuid())
        && Objects.equals(to.uuid(), other.to.uuid());
  }
}
