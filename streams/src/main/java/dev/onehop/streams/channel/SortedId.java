package dev.onehop.streams.channel;

import dev.onehop.core.bson.SortableKey;
import java.util.Arrays;
import java.util.Objects;
import org.bson.BsonDocument;
import org.bson.BsonValue;
import org.jspecify.annotations.Nullable;

/** An {@code _id} that compares as servers compare it without a collation. Immutable. */
final class SortedId implements Comparable<SortedId> {
  private final BsonValue value;
  private final byte[] order;

  SortedId(BsonValue value) {
    this.value = value;
    this.order = SortableKey.encode(value);
  }

  /** The value of a field that must exist. */
  static SortedId of(BsonDocument document, String field) {
    return new SortedId(Objects.requireNonNull(document.get(field), field));
  }

  /** The value of a field; null if the field does not exist. */
  static @Nullable SortedId find(BsonDocument document, String field) {
    BsonValue value = document.get(field);
    return value == null ? null : new SortedId(value);
  }

  BsonValue value() {
    return value;
  }

  @Override
  public int compareTo(SortedId other) {
    return SortableKey.compare(order, other.order);
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof SortedId that && Arrays.equals(order, that.order);
  }

  @Override
  public int hashCode() {
    return Arrays.hashCode(order);
  }

  @Override
  public String toString() {
    return value.toString();
  }
}
