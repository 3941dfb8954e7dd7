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

  /** As results have it: that of the source. */
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

  /** Whether the index of the key is in the order of values on both sides. */
  boolean isOrdered() {
    return isSimple(from) && isSimple(to);
  }

  /** Whether strings, also in the index of {@code _id}, are in the order of their bytes. */
  private static boolean isSimple(CollectionSpec of) {
    BsonDocument collation = of.collation();
    return collation == null || collation.getString("locale").getValue().equals("simple");
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
        && Objects.equals(from.uuid(), other.from.uuid())
        && Objects.equals(to.uuid(), other.to.uuid());
  }
}
