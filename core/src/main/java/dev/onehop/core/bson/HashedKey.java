package dev.onehop.core.bson;

import java.math.BigDecimal;
import java.math.RoundingMode;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import org.bson.BsonType;
import org.bson.BsonValue;
import org.bson.types.Decimal128;

/**
 * The server's hash function for hashed indexes: the first eight bytes of an MD5 over the value's
 * type class and content. Numbers are first converted to 64-bit integers: doubles are truncated,
 * decimals are rounded half to even. Therefore 1, 1.0 and 1.9 have the same hash. The double 1.5
 * becomes 1 and the Decimal128 1.5 becomes 2, so these equal values have different hashes.
 */
public final class HashedKey {
  private static final int SEED = 0;
  private static final int END_OF_OBJECT = 0;
  private static final int LONG_DIGITS = 19;
  private static final double TWO_63 = 0x1p63;
  private static final BigDecimal MAX_LONG = BigDecimal.valueOf(Long.MAX_VALUE);
  private static final BigDecimal MIN_LONG = BigDecimal.valueOf(Long.MIN_VALUE);

  // Finding the algorithm for each value would take longer than the hash.
  private static final ThreadLocal<MessageDigest> MD5 = ThreadLocal.withInitial(HashedKey::md5);

  private HashedKey() {}

  /**
   * Hashes one value; the hash of a missing field is the hash of null. Arrays are hashed, too,
   * although a hashed index refuses them.
   *
   * @throws MalformedBsonException if the value cannot be encoded as BSON
   */
  public static long hash(BsonValue value) {
    return hash(RawValues.write(value));
  }

  /** Hashes a value in raw bytes. */
  public static long hash(BsonPath.Located value) {
    return hash(value.element());
  }

  /**
   * The integer that represents a double in the hash: truncated towards zero, clamped to 64 bits, 0
   * for NaN. 2^63, one above the range, becomes -2^63, as on the server.
   */
  public static long integerOf(double value) {
    return value == TWO_63 ? Long.MIN_VALUE : (long) value;
  }

  /**
   * The integer that represents a Decimal128 in the hash: rounded half to even, clamped to 64 bits,
   * 0 for NaN.
   */
  public static long integerOf(Decimal128 value) {
    if (value.isNaN()) {
      return 0;
    }
    if (value.isInfinite()) {
      return value.isNegative() ? Long.MIN_VALUE : Long.MAX_VALUE;
    }
    BigDecimal exact = SortableNumber.toBigDecimal(value);
    int integerDigits = exact.precision() - exact.scale();
    if (integerDigits > LONG_DIGITS) {
      return exact.signum() < 0 ? Long.MIN_VALUE : Long.MAX_VALUE;
    }
    if (integerDigits < 0) {
      // The value is far below one half, so it rounds to 0. Its thousands of zeros are not
      // expanded.
      return 0;
    }
    if (exact.compareTo(MAX_LONG) >= 0) {
      return Long.MAX_VALUE;
    }
    if (exact.compareTo(MIN_LONG) <= 0) {
      return Long.MIN_VALUE;
    }
    return exact.setScale(0, RoundingMode.HALF_EVEN).longValue();
  }

  private static long hash(ElementCursor element) {
    ByteSink feed = new ByteSink(element.valueLength() + 16);
    feed.putIntLittleEndian(SEED);
    feed.putIntLittleEndian(canonicalType(element));
    putContent(feed, element);
    MessageDigest md5 = MD5.get();
    md5.update(feed.array(), 0, feed.size());
    return ByteOrders.getLongLittleEndian(md5.digest(), 0);
  }

  private static void putContent(ByteSink feed, ElementCursor element) {
    switch (element.type()) {
      case INT32, INT64, DOUBLE, DECIMAL128 -> feed.putLongLittleEndian(integerOf(element));
      case DOCUMENT, ARRAY -> putElements(feed, element.open());
      case JAVASCRIPT_WITH_SCOPE -> putCodeWithScope(feed, element);
      default -> feed.put(element.bytes(), element.valueOffset(), element.valueLength());
    }
  }

  private static long integerOf(ElementCursor number) {
    byte[] bytes = number.bytes();
    int offset = number.valueOffset();
    if (number.type() == BsonType.INT32) {
      return ByteOrders.getIntLittleEndian(bytes, offset);
    }
    long bits = ByteOrders.getLongLittleEndian(bytes, offset);
    return switch (number.type()) {
      case INT64 -> bits;
      case DOUBLE -> integerOf(Double.longBitsToDouble(bits));
      default ->
          integerOf(
              Decimal128.fromIEEE754BIDEncoding(
                  ByteOrders.getLongLittleEndian(bytes, offset + 8), bits));
    };
  }

  private static void putCodeWithScope(ByteSink feed, ElementCursor element) {
    int offset = element.valueOffset();
    int codeLength = element.stringLength(offset + 4);
    feed.put(element.bytes(), offset + 8, codeLength + 1);
    putElements(feed, element.openAt(offset + 9 + codeLength));
  }

  private static void putElements(ByteSink feed, ElementCursor elements) {
    while (elements.next()) {
      feed.putIntLittleEndian(canonicalType(elements));
      feed.put(elements.bytes(), elements.nameOffset(), elements.nameLength() + 1);
      putContent(feed, elements);
    }
    feed.putIntLittleEndian(END_OF_OBJECT);
  }

  private static int canonicalType(ElementCursor element) {
    return switch (element.type()) {
      case MIN_KEY -> -1;
      case UNDEFINED, END_OF_DOCUMENT -> 0;
      case NULL -> 5;
      case INT32, INT64, DOUBLE, DECIMAL128 -> 10;
      case STRING, SYMBOL -> 15;
      case DOCUMENT -> 20;
      case ARRAY -> 25;
      case BINARY -> 30;
      case OBJECT_ID -> 35;
      case BOOLEAN -> 40;
      case DATE_TIME -> 45;
      case TIMESTAMP -> 47;
      case REGULAR_EXPRESSION -> 50;
      case DB_POINTER -> 55;
      case JAVASCRIPT -> 60;
      case JAVASCRIPT_WITH_SCOPE -> 65;
      case MAX_KEY -> 127;
    };
  }

  private static MessageDigest md5() {
    try {
      return MessageDigest.getInstance("MD5");
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("this Java runtime has no MD5, which hashed keys need", e);
    }
  }
}
