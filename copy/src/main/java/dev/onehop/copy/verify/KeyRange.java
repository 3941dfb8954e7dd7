package dev.onehop.copy.verify;

import dev.onehop.core.bson.SortableKey;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.bson.BsonDocument;
import org.bson.BsonValue;
import org.jspecify.annotations.Nullable;

/**
 * The keys from one, inclusive, to another, exclusive, in the servers' order of all types.
 *
 * @param min null for no bound
 * @param max null for no bound
 */
record KeyRange(@Nullable BsonValue min, @Nullable BsonValue max) {
  static final KeyRange ALL = new KeyRange(null, null);

  /** The ranges between bounds, which are in order and without repetition. */
  static List<KeyRange> between(List<BsonValue> bounds) {
    List<KeyRange> ranges = new ArrayList<>();
    BsonValue min = null;
    for (BsonValue max : bounds) {
      ranges.add(new KeyRange(min, max));
      min = max;
    }
    ranges.add(new KeyRange(min, null));
    return ranges;
  }

  /** What is left of it from a key on, that key included. */
  KeyRange from(BsonValue key) {
    return new KeyRange(key, max);
  }

  /**
   * The same as a filter, which tells a router the shards; null where a filter would mean less, as
   * its comparisons see values of the same type only.
   */
  @Nullable BsonDocument filter(String field) {
    if (min == null || max == null || !isComparable(min) || typeClass(min) != typeClass(max)) {
      return null;
    }
    return new BsonDocument(field, new BsonDocument("$gte", min).append("$lt", max));
  }

  private static boolean isComparable(BsonValue value) {
    return switch (value.getBsonType()) {
      case INT32, INT64, STRING, OBJECT_ID, DATE_TIME, BINARY -> true;
      default -> false;
    };
  }

  private static int typeClass(BsonValue value) {
    return SortableKey.encode(value)[0];
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof KeyRange range
        && Arrays.equals(order(min), order(range.min))
        && Arrays.equals(order(max), order(range.max));
  }

  @Override
  public int hashCode() {
    return 31 * Arrays.hashCode(order(min)) + Arrays.hashCode(order(max));
  }

  private static byte @Nullable [] order(@Nullable BsonValue value) {
    return value == null ? null : SortableKey.encode(value);
  }
}
