package dev.onehop.wire.message;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.RoundingMode;
import org.bson.BsonBoolean;
import org.bson.BsonDocument;
import org.bson.BsonValue;
import org.bson.types.Decimal128;

/**
 * Reads a command's optional fields as servers do: null is as good as nothing, and a number of any
 * type is taken for the nearest whole one. What is of another type is nothing, too; servers refuse
 * it.
 */
public final class CommandFields {
  private static final BigInteger LEAST = BigInteger.valueOf(Long.MIN_VALUE);
  private static final BigInteger MOST = BigInteger.valueOf(Long.MAX_VALUE);

  private CommandFields() {}

  /** The document, or an empty one. */
  public static BsonDocument document(BsonDocument command, String field) {
    return command.get(field) instanceof BsonDocument document ? document : new BsonDocument();
  }

  /** The number, 0 if there is none. */
  public static long number(BsonDocument command, String field) {
    return number(command, field, 0);
  }

  /** The number, or another one if there is none. */
  public static long number(BsonDocument command, String field, long otherwise) {
    BsonValue value = command.get(field);
    return value != null && value.isNumber() ? number(value) : otherwise;
  }

  /** How many documents, 0 if it does not say. */
  public static int count(BsonDocument command, String field) {
    return (int) Math.min(Math.max(0, number(command, field)), Integer.MAX_VALUE);
  }

  /** Whether the field is there and true. */
  public static boolean flag(BsonDocument command, String field) {
    return BsonBoolean.TRUE.equals(command.get(field));
  }

  private static long number(BsonValue value) {
    return switch (value.getBsonType()) {
      case INT32 -> value.asInt32().getValue();
      case INT64 -> value.asInt64().getValue();
      // The cast does as servers do: NaN is 0, and what is too large the largest.
      case DOUBLE -> (long) value.asDouble().getValue();
      default -> number(value.asDecimal128().getValue());
    };
  }

  private static long number(Decimal128 value) {
    if (value.isNaN()) {
      return 0;
    }
    if (value.isInfinite()) {
      return value.isNegative() ? Long.MIN_VALUE : Long.MAX_VALUE;
    }
    // A negative zero is no BigDecimal.
    BigDecimal exact =
        value.isNegative()
            ? Decimal128.fromIEEE754BIDEncoding(value.getHigh() & Long.MAX_VALUE, value.getLow())
                .bigDecimalValue()
                .negate()
            : value.bigDecimalValue();
    // No digits of a number that is far too large are written out.
    if (exact.precision() - exact.scale() > 20) {
      return exact.signum() < 0 ? Long.MIN_VALUE : Long.MAX_VALUE;
    }
    return exact
        .setScale(0, RoundingMode.HALF_EVEN)
        .toBigInteger()
        .max(LEAST)
        .min(MOST)
        .longValue();
  }
}
