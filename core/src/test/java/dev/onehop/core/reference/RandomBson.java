package dev.onehop.core.reference;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.bson.BsonArray;
import org.bson.BsonBinary;
import org.bson.BsonBoolean;
import org.bson.BsonDateTime;
import org.bson.BsonDecimal128;
import org.bson.BsonDocument;
import org.bson.BsonDouble;
import org.bson.BsonInt32;
import org.bson.BsonInt64;
import org.bson.BsonJavaScript;
import org.bson.BsonJavaScriptWithScope;
import org.bson.BsonMaxKey;
import org.bson.BsonMinKey;
import org.bson.BsonNull;
import org.bson.BsonNumber;
import org.bson.BsonObjectId;
import org.bson.BsonRegularExpression;
import org.bson.BsonString;
import org.bson.BsonSymbol;
import org.bson.BsonTimestamp;
import org.bson.BsonUndefined;
import org.bson.BsonValue;
import org.bson.types.Decimal128;
import org.bson.types.ObjectId;

/**
 * Random values from small sets, so that equal values are frequent. The sets include unusual
 * values.
 */
public final class RandomBson {
  private static final long[] LONGS = {
    0,
    1,
    -1,
    2,
    3,
    (1L << 53) - 1,
    1L << 53,
    (1L << 53) + 1,
    -(1L << 53) - 1,
    Integer.MAX_VALUE,
    Integer.MIN_VALUE,
    Long.MAX_VALUE,
    Long.MAX_VALUE - 1,
    Long.MIN_VALUE,
    Long.MIN_VALUE + 1
  };
  private static final double[] DOUBLES = {
    0.0,
    -0.0,
    0.1,
    0.5,
    1.5,
    -1.5,
    1.9,
    2.0,
    0x1p53,
    0x1p53 + 2,
    0x1p63,
    -0x1p63,
    -0x1p64,
    1e300,
    Double.MIN_VALUE,
    -Double.MIN_VALUE,
    Double.MIN_NORMAL,
    Double.MAX_VALUE,
    Double.POSITIVE_INFINITY,
    Double.NEGATIVE_INFINITY,
    Double.NaN
  };
  private static final String[] DECIMALS = {
    "0",
    "-0",
    "0E+100",
    "0.1",
    "0.5",
    "1.50",
    "-1.5",
    "1.9",
    "2.00",
    "9007199254740993",
    "9223372036854775807",
    "9223372036854775807.5",
    "9223372036854775808",
    "-9223372036854775808.5",
    "0.1000000000000000055511151231257827",
    "5E-324",
    "1E-6176",
    "9.999999999999999999999999999999999E+6144",
    "1E+400",
    "Infinity",
    "-Infinity",
    "NaN"
  };
  private static final String[] STRINGS = {
    "",
    "\0",
    "\0\0",
    "\1",
    "\1\2",
    "a",
    "A",
    "a\0",
    "a\0b",
    "a\1",
    "ab",
    "aB",
    "abc",
    "b",
    "B",
    "é",
    "e\u0301",
    "\uFFFF",
    "\uD800\uDC00",
    "\uD83D\uDE00",
    "z",
    "$a"
  };
  private static final String[] NAMES = {"", "a", "aa", "b", "d", "é"};

  private final Random random;

  public RandomBson(Random random) {
    this.random = random;
  }

  public BsonValue pick(BsonValue... values) {
    return values[random.nextInt(values.length)];
  }

  /** Any value. Arrays occur only inside documents and arrays. */
  public BsonValue value(int depth) {
    return switch (random.nextInt(24)) {
      case 0 -> new BsonMinKey();
      case 1 -> new BsonMaxKey();
      case 2 -> BsonNull.VALUE;
      case 3 -> new BsonUndefined();
      case 4, 5, 6, 7, 8 -> number();
      case 9, 10, 11, 12 -> new BsonString(string());
      case 13 -> new BsonSymbol(string());
      case 14 -> new BsonBinary((byte) pickInt(0, 2, 4, 128), bytes(random.nextInt(4)));
      case 15 -> new BsonObjectId(new ObjectId(bytes(12)));
      case 16 -> BsonBoolean.valueOf(random.nextBoolean());
      case 17 -> new BsonDateTime(LONGS[random.nextInt(LONGS.length)]);
      case 18 -> new BsonTimestamp(LONGS[random.nextInt(LONGS.length)]);
      case 19 -> new BsonRegularExpression(name(), random.nextBoolean() ? "" : "i");
      case 20 -> new BsonJavaScript(string());
      case 21 ->
          depth > 0
              ? new BsonJavaScriptWithScope(string(), document(depth - 1))
              : new BsonJavaScript("");
      default -> depth > 0 ? document(depth - 1) : new BsonInt32(random.nextInt(4));
    };
  }

  public BsonNumber number() {
    return switch (random.nextInt(6)) {
      case 0, 1 -> new BsonInt32(random.nextInt(5) - 1);
      case 2 -> new BsonInt64(LONGS[random.nextInt(LONGS.length)]);
      case 3 -> new BsonDouble(DOUBLES[random.nextInt(DOUBLES.length)]);
      case 4 -> new BsonDecimal128(Decimal128.parse(DECIMALS[random.nextInt(DECIMALS.length)]));
      default -> anyNumber();
    };
  }

  private BsonNumber anyNumber() {
    return switch (random.nextInt(4)) {
      case 0 -> new BsonInt64(random.nextLong() >> random.nextInt(64));
      case 1 -> new BsonDouble(Double.longBitsToDouble(random.nextLong()));
      case 2 -> new BsonDouble(random.nextInt(8) / 4.0);
      default ->
          new BsonDecimal128(
              Decimal128.parse(
                  (random.nextLong() >> random.nextInt(64)) + "E" + (random.nextInt(60) - 40)));
    };
  }

  public String string() {
    return STRINGS[random.nextInt(STRINGS.length)];
  }

  private String name() {
    return NAMES[random.nextInt(NAMES.length)];
  }

  public BsonDocument document(int depth) {
    BsonDocument document = new BsonDocument();
    for (int i = random.nextInt(3); i > 0; i--) {
      document.append(name(), random.nextInt(8) == 0 ? array(depth) : value(depth));
    }
    return document;
  }

  public BsonArray array(int depth) {
    List<BsonValue> values = new ArrayList<>();
    for (int i = random.nextInt(3); i > 0; i--) {
      values.add(value(depth));
    }
    return new BsonArray(values);
  }

  private int pickInt(int... values) {
    return values[random.nextInt(values.length)];
  }

  private byte[] bytes(int length) {
    byte[] bytes = new byte[length];
    for (int i = 0; i < length; i++) {
      bytes[i] = (byte) pickInt(0, 1, 127, 128, 255);
    }
    return bytes;
  }
}
