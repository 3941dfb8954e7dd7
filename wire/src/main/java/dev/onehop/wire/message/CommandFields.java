package dev.onehop.wire.message;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.RoundingMode;
import org.bson.BsonBoolean;
import org.bson.BsonDocument;
import org.bson.BsonValue;
import org.bson.types.Decimal128;

/**
 * Reads a command's optional fields with the rules of servers: null counts as absent, and a number
 * of any type is rounded to an integer. A server refuses a value of another type; this class treats
 * such a value as absent.
 */
public final class CommandFields {
  private static final BigInteger LEAST = BigInteger.valueOf(Long.MIN_VALUE);
  private static final BigInteger MOST = BigInteger.valueOf(Long.MAX_VALUE);

  private CommandFields() {}

  /** The document in a field, or an empty one. */
  public static BsonDocument document(BsonDocument command, String field) {
    return command.get(field) instanceof BsonDocument document ? document : new BsonDocument();
  }

  /** The number in a field, 0 if there is none. */
  public static long number(BsonDocument command, String field) {
    return number(command, field, 0);
  }

  /** The number in a field, or a default if there is none. */
  public static long number(BsonDocument command, String field, long otherwise) {
    BsonValue value = command.get(field);
    return value != null && value.isNumber() ? number(value) : otherwise;
  }

  /** A number of documents, 0 if the field is absent. */
  public static int count(BsonDocument command, String field) {
    return (int) Math.min(Math.max(0, number(command, field)), Integer.MAX_VALUE);
  }

  /** Whether the field is true. */
  public static boolean flag(BsonDocument command, String field) {
    return BsonBoolean.TRUE.equals(command.get(field));
  }

  private static long number(BsonValue value) {
    return switch (value.getBsonType()) {
      case INT32 -> value.asInt32().getValue();
      case INT64 -> value.asInt64().getValue();
      // The cast has the rules of servers: NaN is 0, and a number that is too large is the largest
      // long.
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
    // BigDecimal has no negative zero, so a negative value is converted without its sign.
    BigDecimal exact =
        value.isNegative()
            ? Decimal128.fromIEEE754BIDEncoding(value.getHigh() & Long.MAX_VALUE, value.getLow())
                .bigDecimalValue()
                .negate()
            : value.bigDecimalValue();
    // This check comes before setScale, which would compute all digits of a huge number.
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
