package dev.onehop.core.targeting;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Encoded values of one field from {@code from}, inclusive, to {@code to}, exclusive. Both limits
 * may be any bytes. The least and the greatest value are stored if they are known, so that the
 * bounds of the next field can be appended to them. Immutable; the arrays must not change.
 */
final class Interval {
  static final Interval ALL = new Interval(new byte[0], new byte[] {(byte) 0xFF}, null, null);

  private final byte[] from;
  private final byte[] to;
  private final byte @Nullable [] first;
  private final byte @Nullable [] last;

  private Interval(byte[] from, byte[] to, byte @Nullable [] first, byte @Nullable [] last) {
    this.from = from;
    this.to = to;
    this.first = first;
    this.last = last;
  }

  /** One value. */
  static Interval point(byte[] value) {
    return new Interval(value, successor(value), value, value);
  }

  /** All values that begin with {@code prefix}. */
  static Interval startingWith(byte[] prefix) {
    return new Interval(prefix, successor(prefix), null, null);
  }

  /** All values that begin with {@code prefix}. The least of these values is {@code least}. */
  static Interval startingWith(byte[] prefix, byte[] least) {
    return new Interval(least, successor(prefix), least, null);
  }

  /** Any bytes from {@code from}, inclusive, to {@code to}, exclusive. */
  static Interval between(byte[] from, byte[] to) {
    return new Interval(from, to, null, null);
  }

  static Interval atLeast(byte[] value) {
    return new Interval(value, ALL.to, value, null);
  }

  static Interval above(byte[] value) {
    return new Interval(successor(value), ALL.to, null, null);
  }

  static Interval atMost(byte[] value) {
    return new Interval(ALL.from, successor(value), null, value);
  }

  static Interval below(byte[] value) {
    return new Interval(ALL.from, value, null, null);
  }

  byte[] from() {
    return from;
  }

  byte[] to() {
    return to;
  }

  /** The least value, if it is known to be in the interval; otherwise null. */
  byte @Nullable [] first() {
    return first;
  }

  /** The greatest value, if it is known to be in the interval; otherwise null. */
  byte @Nullable [] last() {
    return last;
  }

  boolean isPoint() {
    return first != null && last != null && Arrays.equals(first, last);
  }

  boolean isEmpty() {
    return Arrays.compareUnsigned(from, to) >= 0;
  }

  Interval intersect(Interval other) {
    int lower = Arrays.compareUnsigned(from, other.from);
    int upper = Arrays.compareUnsigned(to, other.to);
    return new Interval(
        lower >= 0 ? from : other.from,
        upper <= 0 ? to : other.to,
        lower > 0 || (lower == 0 && first != null) ? first : other.first,
        upper < 0 || (upper == 0 && last != null) ? last : other.last);
  }

  /** Whether there is no gap between this interval and {@code later}. */
  boolean reaches(Interval later) {
    return Arrays.compareUnsigned(to, later.from) >= 0;
  }

  /** The union of this interval and {@code later}. There must be no gap between the two. */
  Interval join(Interval later) {
    int lower = Arrays.compareUnsigned(from, later.from);
    int upper = Arrays.compareUnsigned(to, later.to);
    return new Interval(
        from,
        upper >= 0 ? to : later.to,
        lower < 0 || first != null ? first : later.first,
        upper > 0 || (upper == 0 && last != null) ? last : later.last);
  }

  /** This interval, converted to the encoding of a descending field. */
  Interval flipped() {
    // Flipped bits exchange the limits. If x >= from or x begins with from, then ~x <= ~from or ~x
    // begins with ~from. The same applies to the other limit.
    byte[] flippedFrom = Arrays.equals(to, ALL.to) ? ALL.from : successor(flip(to));
    byte[] flippedTo = from.length == 0 ? ALL.to : successor(flip(from));
    return new Interval(
        flippedFrom,
        flippedTo,
        last == null ? null : flip(last),
        first == null ? null : flip(first));
  }

  /**
   * The least byte string above all byte strings that begin with {@code prefix}; 0xFF if there is
   * none.
   */
  static byte[] successor(byte[] prefix) {
    for (int i = prefix.length - 1; i >= 0; i--) {
      if (prefix[i] != (byte) 0xFF) {
        byte[] next = Arrays.copyOf(prefix, i + 1);
        next[i]++;
        return next;
      }
    }
    return ALL.to;
  }

  private static byte[] flip(byte[] bytes) {
    byte[] flipped = new byte[bytes.length];
    for (int i = 0; i < bytes.length; i++) {
      flipped[i] = (byte) ~bytes[i];
    }
    return flipped;
  }
}
