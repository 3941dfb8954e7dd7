package dev.onehop.core.reference;

import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Iterator;
import java.util.Locale;
import java.util.Map;
import org.bson.BsonArray;
import org.bson.BsonBinary;
import org.bson.BsonDocument;
import org.bson.BsonType;
import org.bson.BsonValue;

/** The server's comparison of values, in a slow and simple implementation. */
public final class ReferenceOrder implements Comparator<BsonValue> {
  public static final ReferenceOrder SIMPLE = new ReferenceOrder(false);

  /** An example of a collation: upper case and lower case are equal. */
  public static final ReferenceOrder IGNORING_CASE = new ReferenceOrder(true);

  private final boolean ignoringCase;

  private ReferenceOrder(boolean ignoringCase) {
    this.ignoringCase = ignoringCase;
  }

  public static int canonicalType(BsonType type) {
    return switch (type) {
      case MIN_KEY -> -1;
      case UNDEFINED -> 0;
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
      case END_OF_DOCUMENT -> throw new IllegalArgumentException("no value");
    };
  }

  @Override
  public int compare(BsonValue a, BsonValue b) {
    int type = canonicalType(a.getBsonType());
    int byType = Integer.compare(type, canonicalType(b.getBsonType()));
    if (byType != 0) {
      return byType;
    }
    return switch (type) {
      case 10 -> numbers(a, b);
      case 15 -> strings(text(a), text(b));
      case 20 -> documents(a.asDocument(), b.asDocument());
      case 25 -> documents(asDocument(a.asArray()), asDocument(b.asArray()));
      case 30 -> binaries(a.asBinary(), b.asBinary());
      case 35 ->
          Arrays.compareUnsigned(
              a.asObjectId().getValue().toByteArray(), b.asObjectId().getValue().toByteArray());
      case 40 -> Boolean.compare(a.asBoolean().getValue(), b.asBoolean().getValue());
      case 45 -> Long.compare(a.asDateTime().getValue(), b.asDateTime().getValue());
      case 47 -> {
        int seconds = Integer.compareUnsigned(a.asTimestamp().getTime(), b.asTimestamp().getTime());
        yield seconds != 0
            ? seconds
            : Integer.compareUnsigned(a.asTimestamp().getInc(), b.asTimestamp().getInc());
      }
      case 50 -> {
        int pattern =
            bytes(a.asRegularExpression().getPattern(), b.asRegularExpression().getPattern());
        yield pattern != 0
            ? pattern
            : bytes(a.asRegularExpression().getOptions(), b.asRegularExpression().getOptions());
      }
      case 60 -> bytes(a.asJavaScript().getCode(), b.asJavaScript().getCode());
      case 65 -> {
        int code = bytes(a.asJavaScriptWithScope().getCode(), b.asJavaScriptWithScope().getCode());
        yield code != 0
            ? code
            : documents(a.asJavaScriptWithScope().getScope(), b.asJavaScriptWithScope().getScope());
      }
      default -> 0;
    };
  }

  /** Compares numbers: NaN is the least, and other numbers have the order of their exact values. */
  private static int numbers(BsonValue a, BsonValue b) {
    int byKind = Integer.compare(kind(a), kind(b));
    return byKind != 0 || kind(a) != 0 ? byKind : exact(a).compareTo(exact(b));
  }

  private static int kind(BsonValue number) {
    if (number.isDouble()) {
      double value = number.asDouble().getValue();
      return Double.isNaN(value) ? -2 : Double.isInfinite(value) ? (int) Math.signum(value) : 0;
    }
    if (number.isDecimal128()) {
      String text = number.asDecimal128().getValue().toString();
      return text.contains("NaN")
          ? -2
          : text.contains("Infinity") ? (text.startsWith("-") ? -1 : 1) : 0;
    }
    return 0;
  }

  private static BigDecimal exact(BsonValue number) {
    return switch (number.getBsonType()) {
      case INT32 -> BigDecimal.valueOf(number.asInt32().getValue());
      case INT64 -> BigDecimal.valueOf(number.asInt64().getValue());
      case DOUBLE -> new BigDecimal(number.asDouble().getValue());
      default -> new BigDecimal(number.asDecimal128().getValue().toString());
    };
  }

  private int strings(String a, String b) {
    return ignoringCase
        ? bytes(a.toLowerCase(Locale.ROOT), b.toLowerCase(Locale.ROOT))
        : bytes(a, b);
  }

  private static int bytes(String a, String b) {
    return Arrays.compareUnsigned(
        a.getBytes(StandardCharsets.UTF_8), b.getBytes(StandardCharsets.UTF_8));
  }

  private static String text(BsonValue value) {
    return value.isString() ? value.asString().getValue() : value.asSymbol().getSymbol();
  }

  private int documents(BsonDocument a, BsonDocument b) {
    Iterator<Map.Entry<String, BsonValue>> left = a.entrySet().iterator();
    Iterator<Map.Entry<String, BsonValue>> right = b.entrySet().iterator();
    while (left.hasNext() && right.hasNext()) {
      Map.Entry<String, BsonValue> l = left.next();
      Map.Entry<String, BsonValue> r = right.next();
      int order =
          Integer.compare(
              canonicalType(l.getValue().getBsonType()), canonicalType(r.getValue().getBsonType()));
      order = order != 0 ? order : bytes(l.getKey(), r.getKey());
      order = order != 0 ? order : compare(l.getValue(), r.getValue());
      if (order != 0) {
        return order;
      }
    }
    return Boolean.compare(left.hasNext(), right.hasNext());
  }

  private static BsonDocument asDocument(BsonArray array) {
    BsonDocument document = new BsonDocument();
    for (int i = 0; i < array.size(); i++) {
      document.append(Integer.toString(i), array.get(i));
    }
    return document;
  }

  private static int binaries(BsonBinary a, BsonBinary b) {
    int length = Integer.compare(stored(a).length, stored(b).length);
    int subtype = Integer.compare(a.getType() & 0xFF, b.getType() & 0xFF);
    return length != 0
        ? length
        : subtype != 0 ? subtype : Arrays.compareUnsigned(stored(a), stored(b));
  }

  /**
   * Returns the bytes as the server stores them: in subtype 2, the data begin with a second length.
   */
  private static byte[] stored(BsonBinary binary) {
    byte[] data = binary.getData();
    return binary.getType() != 2
        ? data
        : ByteBuffer.allocate(data.length + 4)
            .putInt(Integer.reverseBytes(data.length))
            .put(data)
            .array();
  }
}
