package dev.onehop.core.targeting;

import dev.onehop.core.bson.HashedKey;
import dev.onehop.core.bson.SortableKey;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.bson.BsonDocument;
import org.bson.BsonInt64;
import org.bson.BsonNumber;
import org.bson.BsonUndefined;
import org.bson.BsonValue;
import org.bson.types.Decimal128;

/**
 * The hashes of the values that equal a given value. Usually there is one hash. But the same number
 * may be stored as a double or as a Decimal128. These two may have different hashes if the number
 * has a fraction.
 */
final class HashedValues {
  private static final int DECIMAL128_DIGITS = 34;

  private HashedValues() {}

  /**
   * The keys of all values equal to {@code value}. The result is all keys if a number inside {@code
   * value} can be stored in several ways.
   */
  static IntervalSet equalTo(BsonValue value) {
    if (value.isNumber()) {
      List<Interval> points = new ArrayList<>(2);
      for (long integer : integersOf(value.asNumber())) {
        points.add(pointOf(new BsonInt64(integer)));
      }
      return IntervalSet.union(points);
    }
    return isAmbiguous(value) ? IntervalSet.ALL : IntervalSet.of(pointOf(value));
  }

  /** The keys of the values that null matches in a filter: null, missing fields and undefined. */
  static IntervalSet equalToNull(BsonValue nullValue) {
    return IntervalSet.union(List.of(pointOf(nullValue), pointOf(new BsonUndefined())));
  }

  private static Interval pointOf(BsonValue value) {
    return Interval.point(SortableKey.encode(new BsonInt64(HashedKey.hash(value))));
  }

  private static Set<Long> integersOf(BsonNumber number) {
    Set<Long> integers = new LinkedHashSet<>(4);
    if (number.isInt32() || number.isInt64()) {
      integers.add(number.longValue());
      return integers;
    }
    BigDecimal exact;
    if (number.isDouble()) {
      double value = number.asDouble().getValue();
      integers.add(HashedKey.integerOf(value));
      if (!Double.isFinite(value)) {
        return integers;
      }
      exact = new BigDecimal(value);
    } else {
      Decimal128 value = number.asDecimal128().getValue();
      integers.add(HashedKey.integerOf(value));
      if (!value.isFinite() || value.equals(Decimal128.NEGATIVE_ZERO)) {
        return integers;
      }
      exact = exact(value);
    }
    double asDouble = exact.doubleValue();
    if (Double.isFinite(asDouble) && new BigDecimal(asDouble).compareTo(exact) == 0) {
      integers.add(HashedKey.integerOf(asDouble));
    }
    BigDecimal stripped = exact.stripTrailingZeros();
    if (stripped.precision() <= DECIMAL128_DIGITS) {
      try {
        integers.add(HashedKey.integerOf(new Decimal128(stripped)));
      } catch (NumberFormatException e) {
        // The exponent is out of a Decimal128's range, so no Decimal128 equals the value.
        return integers;
      }
    }
    return integers;
  }

  private static BigDecimal exact(Decimal128 value) {
    try {
      return value.bigDecimalValue();
    } catch (ArithmeticException negativeZero) {
      return BigDecimal.ZERO;
    }
  }

  /** Whether a nested number could be stored as another number type with another hash. */
  private static boolean isAmbiguous(BsonValue value) {
    return switch (value.getBsonType()) {
      case DOUBLE, DECIMAL128 -> integersOf(value.asNumber()).size() > 1;
      case DOCUMENT -> anyAmbiguous(value.asDocument());
      case ARRAY -> value.asArray().stream().anyMatch(HashedValues::isAmbiguous);
      case JAVASCRIPT_WITH_SCOPE -> anyAmbiguous(value.asJavaScriptWithScope().getScope());
      default -> false;
    };
  }

  private static boolean anyAmbiguous(BsonDocument document) {
    return document.values().stream().anyMatch(HashedValues::isAmbiguous);
  }
}
