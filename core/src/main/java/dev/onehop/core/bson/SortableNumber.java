package dev.onehop.core.bson;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.MathContext;
import org.bson.BsonDecimal128;
import org.bson.BsonDouble;
import org.bson.BsonInt32;
import org.bson.BsonInt64;
import org.bson.BsonNumber;
import org.bson.types.Decimal128;

/**
 * Encodes numbers of all four BSON types in one exact order; equal numbers have equal bytes.
 *
 * <p>A magnitude is written as its class, then its integer part, then its fraction:
 *
 * <pre>
 *   0x80 + n   n (0..8) big-endian bytes of the integer part; then 0x00, or 0x01 and the fraction
 *   0x89       2^63 and above, in the format of a fraction
 *   0x8A       infinity
 * </pre>
 *
 * A fraction is written as the greatest double not above it (8 bytes). Then comes 0x00 if the
 * double is exact, otherwise 0x01 and the decimal digits. There are at most 34 digits, because only
 * a Decimal128 can differ from its double. A negative number is written as its magnitude with all
 * bits flipped. NaN is a single 0x00, below all other numbers.
 */
final class SortableNumber {
  private static final int NAN = 0x00;
  private static final int INTEGER = 0x80;
  private static final int HUGE = 0x89;
  private static final int INFINITE = 0x8A;
  private static final int NEGATIVE_INFINITE = ~INFINITE & 0xFF;

  private static final double TWO_63 = 0x1p63;
  private static final BigDecimal BIG_TWO_63 = new BigDecimal(BigInteger.ONE.shiftLeft(63));
  private static final int DECIMAL128_DIGITS = 34;
  private static final int EXPONENT_BIAS = 0x4000;

  private SortableNumber() {}

  static void put(ByteSink out, long value) {
    if (value == Long.MIN_VALUE) {
      put(out, -TWO_63);
      return;
    }
    int start = out.size();
    putInteger(out, Math.abs(value));
    out.put(0);
    if (value < 0) {
      out.invertFrom(start);
    }
  }

  static void put(ByteSink out, double value) {
    if (Double.isNaN(value)) {
      out.put(NAN);
      return;
    }
    int start = out.size();
    double magnitude = Math.abs(value);
    if (magnitude == Double.POSITIVE_INFINITY) {
      out.put(INFINITE);
    } else if (magnitude >= TWO_63) {
      out.put(HUGE);
      out.putLong(Double.doubleToRawLongBits(magnitude));
      out.put(0);
    } else {
      long integer = (long) magnitude;
      double fraction = magnitude - integer;
      putInteger(out, integer);
      if (fraction == 0) {
        out.put(0);
      } else {
        out.put(1);
        out.putLong(Double.doubleToRawLongBits(fraction));
        out.put(0);
      }
    }
    if (value < 0) {
      out.invertFrom(start);
    }
  }

  static void put(ByteSink out, Decimal128 value) {
    if (value.isNaN()) {
      out.put(NAN);
    } else if (value.isInfinite()) {
      out.put(value.isNegative() ? NEGATIVE_INFINITE : INFINITE);
    } else {
      put(out, toBigDecimal(value));
    }
  }

  /**
   * The exact value of a finite Decimal128. It is zero for 0, for -0, and, as IEEE 754 requires,
   * for a coefficient of more than 34 digits.
   */
  static BigDecimal toBigDecimal(Decimal128 value) {
    // Decimal128 does not convert -0 to BigDecimal, which has no negative zero.
    Decimal128 magnitude =
        Decimal128.fromIEEE754BIDEncoding(value.getHigh() & Long.MAX_VALUE, value.getLow());
    BigDecimal decimal = magnitude.bigDecimalValue();
    if (decimal.signum() == 0 || decimal.precision() > DECIMAL128_DIGITS) {
      return BigDecimal.ZERO;
    }
    return value.isNegative() ? decimal.negate() : decimal;
  }

  private static void put(ByteSink out, BigDecimal value) {
    int start = out.size();
    BigDecimal magnitude = value.abs();
    if (magnitude.compareTo(BIG_TWO_63) >= 0) {
      out.put(HUGE);
      putFraction(out, magnitude);
    } else {
      // A tiny number has a scale of thousands. Its zeros must not be expanded, so its integer part
      // is set to 0.
      long integer = magnitude.compareTo(BigDecimal.ONE) < 0 ? 0 : magnitude.longValue();
      BigDecimal fraction =
          integer == 0 ? magnitude : magnitude.subtract(BigDecimal.valueOf(integer));
      putInteger(out, integer);
      if (fraction.signum() == 0) {
        out.put(0);
      } else {
        out.put(1);
        putFraction(out, fraction);
      }
    }
    if (value.signum() < 0) {
      out.invertFrom(start);
    }
  }

  private static void putInteger(ByteSink out, long magnitude) {
    int length = (71 - Long.numberOfLeadingZeros(magnitude)) >>> 3;
    out.put(INTEGER + length);
    for (int shift = 8 * (length - 1); shift >= 0; shift -= 8) {
      out.put((int) (magnitude >>> shift));
    }
  }

  private static void putFraction(ByteSink out, BigDecimal positive) {
    double floor = floorDouble(positive);
    out.putLong(Double.doubleToRawLongBits(floor));
    if (new BigDecimal(floor).compareTo(positive) == 0) {
      out.put(0);
    } else {
      out.put(1);
      putDigits(out, positive.stripTrailingZeros());
    }
  }

  private static double floorDouble(BigDecimal positive) {
    double d = Math.min(positive.doubleValue(), Double.MAX_VALUE);
    while (new BigDecimal(d).compareTo(positive) > 0) {
      d = Math.nextDown(d);
    }
    return d;
  }

  /**
   * Writes the decimal exponent, then two digits per byte. One is added to each of these bytes,
   * because 0x00 marks the end.
   */
  private static void putDigits(ByteSink out, BigDecimal stripped) {
    String digits = stripped.unscaledValue().toString();
    int exponent = digits.length() - 1 - stripped.scale() + EXPONENT_BIAS;
    out.put(exponent >>> 8);
    out.put(exponent);
    for (int i = 0; i < digits.length(); i += 2) {
      int tens = digits.charAt(i) - '0';
      int ones = i + 1 < digits.length() ? digits.charAt(i + 1) - '0' : 0;
      out.put(1 + 10 * tens + ones);
    }
    out.put(0);
  }

  /** Decodes a number as the narrowest BSON type that represents it. */
  static BsonNumber read(KeyCursor in) {
    int first = in.peek();
    if (first == NAN) {
      in.next();
      return new BsonDouble(Double.NaN);
    }
    boolean negative = first < INTEGER;
    KeyCursor magnitudeIn = in.flipped(negative);
    int kind = magnitudeIn.next();
    if (kind == INFINITE) {
      return new BsonDouble(negative ? Double.NEGATIVE_INFINITY : Double.POSITIVE_INFINITY);
    }
    BigDecimal magnitude;
    if (kind == HUGE) {
      magnitude = readFraction(magnitudeIn);
    } else if (kind >= INTEGER && kind <= INTEGER + 8) {
      long integer = 0;
      for (int i = INTEGER; i < kind; i++) {
        integer = integer << 8 | magnitudeIn.next();
      }
      if (magnitudeIn.next() == 0) {
        return narrowest(negative ? -integer : integer);
      }
      magnitude = BigDecimal.valueOf(integer).add(readFraction(magnitudeIn));
    } else {
      throw in.malformed("a number of unknown class " + kind);
    }
    return narrowest(negative ? magnitude.negate() : magnitude, in);
  }

  private static BigDecimal readFraction(KeyCursor in) {
    double floor = Double.longBitsToDouble(in.nextLong());
    if (!Double.isFinite(floor)) {
      throw in.malformed("a fraction that is not finite");
    }
    return in.next() == 0 ? new BigDecimal(floor) : readDigits(in);
  }

  private static BigDecimal readDigits(KeyCursor in) {
    int exponent = (in.next() << 8 | in.next()) - EXPONENT_BIAS;
    StringBuilder digits = new StringBuilder(DECIMAL128_DIGITS + 2);
    for (int pair = in.next(); pair != 0; pair = in.next()) {
      if (pair > 100 || digits.length() >= DECIMAL128_DIGITS) {
        throw in.malformed("too many decimal digits");
      }
      digits.append((char) ('0' + (pair - 1) / 10)).append((char) ('0' + (pair - 1) % 10));
    }
    if (digits.isEmpty()) {
      throw in.malformed("a decimal without digits");
    }
    return new BigDecimal(new BigInteger(digits.toString()), digits.length() - 1 - exponent);
  }

  private static BsonNumber narrowest(long value) {
    return (int) value == value ? new BsonInt32((int) value) : new BsonInt64(value);
  }

  private static BsonNumber narrowest(BigDecimal value, KeyCursor in) {
    double asDouble = value.doubleValue();
    if (Double.isFinite(asDouble) && new BigDecimal(asDouble).compareTo(value) == 0) {
      return new BsonDouble(asDouble);
    }
    try {
      BigDecimal stripped = value.stripTrailingZeros().round(new MathContext(DECIMAL128_DIGITS));
      return new BsonDecimal128(new Decimal128(stripped));
    } catch (NumberFormatException e) {
      throw in.malformed("a number that is no Decimal128");
    }
  }
}
