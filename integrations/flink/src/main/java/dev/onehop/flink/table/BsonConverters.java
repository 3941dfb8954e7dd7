package dev.onehop.flink.table;

import java.lang.reflect.Array;
import java.math.BigDecimal;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.flink.table.api.ValidationException;
import org.apache.flink.table.data.DecimalData;
import org.apache.flink.table.data.GenericArrayData;
import org.apache.flink.table.data.GenericMapData;
import org.apache.flink.table.data.StringData;
import org.apache.flink.table.data.TimestampData;
import org.apache.flink.table.types.logical.ArrayType;
import org.apache.flink.table.types.logical.DecimalType;
import org.apache.flink.table.types.logical.LogicalType;
import org.apache.flink.table.types.logical.LogicalTypeRoot;
import org.apache.flink.table.types.logical.MapType;
import org.apache.flink.table.types.logical.RowType;
import org.apache.flink.table.types.logical.utils.LogicalTypeUtils;
import org.bson.BsonNumber;
import org.bson.BsonTimestamp;
import org.bson.BsonValue;
import org.bson.types.Decimal128;
import org.jspecify.annotations.Nullable;

/**
 * Converters from BSON to SQL types. A number is converted only if its value stays the same. There
 * are two exceptions: {@code DECIMAL} rounds to its scale and {@code DOUBLE} to its precision.
 */
final class BsonConverters {
  private static final long MILLIS = 1_000;

  private BsonConverters() {}

  /**
   * Returns a converter for a type.
   *
   * @param path the column or field with the type
   * @param zone the time zone for times in strings
   * @throws ValidationException if there is no converter for the type
   */
  static BsonConverter of(LogicalType type, String path, ZoneId zone) {
    return switch (type.getTypeRoot()) {
      case CHAR, VARCHAR -> value -> StringData.fromString(BsonStrings.of(value, zone));
      case BOOLEAN -> value -> checked(value, value.isBoolean(), type).asBoolean().getValue();
      case INTEGER -> value -> (int) whole(value, Integer.MIN_VALUE, Integer.MAX_VALUE, type);
      case BIGINT -> value -> whole(value, Long.MIN_VALUE, Long.MAX_VALUE, type);
      case DOUBLE -> value -> checked(value, value.isNumber(), type).asNumber().doubleValue();
      case DECIMAL -> value -> decimal(value, (DecimalType) type);
      case TIMESTAMP_WITH_LOCAL_TIME_ZONE -> value -> time(value, type);
      case BINARY, VARBINARY ->
          value -> checked(value, value.isBinary(), type).asBinary().getData();
      case ROW -> RowConverter.of((RowType) type, path, zone);
      case ARRAY -> array((ArrayType) type, path, zone);
      case MAP -> map((MapType) type, path, zone);
      default ->
          throw new ValidationException(
              path
                  + " can't be "
                  + type.asSummaryString()
                  + "; the types are STRING, BOOLEAN, INT, BIGINT, DOUBLE, DECIMAL,"
                  + " TIMESTAMP_LTZ, BYTES, ROW, ARRAY and MAP<STRING, ...>");
    };
  }

  /**
   * Converts the value of a field, which may be missing.
   *
   * @param value the value; null if the field is missing
   * @param name the field's name, or its position in an array
   */
  static @Nullable Object field(
      @Nullable BsonValue value, BsonConverter converter, LogicalType type, String name) {
    try {
      if (value == null || value.isNull()) {
        if (!type.isNullable()) {
          throw new WrongValueException("there is no value for " + type.asSummaryString());
        }
        return null;
      }
      return converter.convert(value);
    } catch (WrongValueException wrong) {
      throw wrong.in(name);
    }
  }

  static long seconds(BsonTimestamp time) {
    return Integer.toUnsignedLong(time.getTime());
  }

  private static BsonValue checked(BsonValue value, boolean fits, LogicalType type) {
    if (!fits) {
      throw wrong(value, type);
    }
    return value;
  }

  private static WrongValueException wrong(BsonValue value, LogicalType type) {
    String which = value.isNumber() ? " " + BsonStrings.of(value, ZoneOffset.UTC) : "";
    return new WrongValueException(
        value.getBsonType() + which + " can't become " + type.asSummaryString());
  }

  private static long whole(BsonValue value, long least, long most, LogicalType type) {
    long number;
    if (value.isInt32() || value.isInt64()) {
      number = value.asNumber().longValue();
    } else {
      try {
        number = exact(value, type).longValueExact();
      } catch (ArithmeticException partOrOverflow) {
        throw wrong(value, type);
      }
    }
    checked(value, number >= least && number <= most, type);
    return number;
  }

  private static DecimalData decimal(BsonValue value, DecimalType type) {
    DecimalData decimal =
        DecimalData.fromBigDecimal(exact(value, type), type.getPrecision(), type.getScale());
    if (decimal == null) {
      throw wrong(value, type);
    }
    return decimal;
  }

  private static BigDecimal exact(BsonValue value, LogicalType type) {
    BsonNumber number = checked(value, value.isNumber(), type).asNumber();
    if (value.isDecimal128()) {
      Decimal128 decimal = number.decimal128Value();
      checked(value, decimal.isFinite(), type);
      try {
        return decimal.bigDecimalValue();
      } catch (ArithmeticException negativeZero) {
        return BigDecimal.ZERO;
      }
    }
    if (value.isDouble()) {
      checked(value, Double.isFinite(number.doubleValue()), type);
      return BigDecimal.valueOf(number.doubleValue());
    }
    return BigDecimal.valueOf(number.longValue());
  }

  private static TimestampData time(BsonValue value, LogicalType type) {
    return TimestampData.fromEpochMillis(
        value.isTimestamp()
            ? seconds(value.asTimestamp()) * MILLIS
            : checked(value, value.isDateTime(), type).asDateTime().getValue());
  }

  private static BsonConverter array(ArrayType type, String path, ZoneId zone) {
    LogicalType elements = type.getElementType();
    BsonConverter converter = of(elements, path + "[]", zone);
    Class<?> internal = LogicalTypeUtils.toInternalConversionClass(elements);
    return value -> {
      List<BsonValue> from = checked(value, value.isArray(), type).asArray().getValues();
      Object[] to = (Object[]) Array.newInstance(internal, from.size());
      for (int i = 0; i < to.length; i++) {
        to[i] = field(from.get(i), converter, elements, "[" + i + "]");
      }
      return new GenericArrayData(to);
    };
  }

  private static BsonConverter map(MapType type, String path, ZoneId zone) {
    if (!type.getKeyType().is(LogicalTypeRoot.VARCHAR)) {
      throw new ValidationException(path + ": the keys of a MAP can only be STRING");
    }
    LogicalType values = type.getValueType();
    BsonConverter converter = of(values, path + "{}", zone);
    return value -> {
      Map<Object, @Nullable Object> to = new HashMap<>();
      checked(value, value.isDocument(), type)
          .asDocument()
          .forEach(
              (name, each) ->
                  to.put(StringData.fromString(name), field(each, converter, values, name)));
      return new GenericMapData(to);
    };
  }
}
