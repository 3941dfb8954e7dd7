package dev.onehop.core.bson;

import org.bson.BsonBinary;
import org.bson.BsonBinarySubType;
import org.bson.BsonValue;
import org.bson.types.ObjectId;

/**
 * Encodes values in memory. Scalars are encoded directly. Nested values are first converted to BSON
 * bytes, so that only one class walks through nested values.
 */
final class KeyEncoder {
  private KeyEncoder() {}

  /** Encodes a single value; for the usual key types it allocates only the result. */
  static byte[] encode(BsonValue value) {
    switch (value.getBsonType()) {
      case STRING -> {
        byte[] ascii = asciiString(value.asString().getValue());
        if (ascii != null) {
          return ascii;
        }
      }
      case OBJECT_ID -> {
        return objectId(value.asObjectId().getValue());
      }
      default -> {}
    }
    ByteSink out = new ByteSink(sizeHint(value));
    put(out, value);
    return out.toByteArray();
  }

  static void put(ByteSink out, BsonValue value) {
    switch (value.getBsonType()) {
      case MIN_KEY -> out.put(TypeClass.MIN_KEY);
      case MAX_KEY -> out.put(TypeClass.MAX_KEY);
      case NULL -> out.put(TypeClass.NULL);
      case UNDEFINED -> out.put(TypeClass.UNDEFINED);
      case INT32 -> {
        out.put(TypeClass.NUMBER);
        SortableNumber.put(out, (long) value.asInt32().getValue());
      }
      case INT64 -> {
        out.put(TypeClass.NUMBER);
        SortableNumber.put(out, value.asInt64().getValue());
      }
      case DOUBLE -> {
        out.put(TypeClass.NUMBER);
        SortableNumber.put(out, value.asDouble().getValue());
      }
      case DECIMAL128 -> {
        out.put(TypeClass.NUMBER);
        SortableNumber.put(out, value.asDecimal128().getValue());
      }
      case STRING -> {
        out.put(TypeClass.STRING);
        SortableText.put(out, value.asString().getValue());
      }
      case SYMBOL -> {
        out.put(TypeClass.STRING);
        SortableText.put(out, value.asSymbol().getSymbol());
      }
      case JAVASCRIPT -> {
        out.put(TypeClass.CODE);
        SortableText.put(out, value.asJavaScript().getCode());
      }
      case BINARY -> {
        out.put(TypeClass.BINARY);
        putBinary(out, value.asBinary());
      }
      case OBJECT_ID -> {
        byte[] key = objectId(value.asObjectId().getValue());
        out.put(key, 0, key.length);
      }
      case BOOLEAN -> {
        out.put(TypeClass.BOOLEAN);
        out.put(value.asBoolean().getValue() ? 1 : 0);
      }
      case DATE_TIME -> {
        out.put(TypeClass.DATE);
        out.putLong(value.asDateTime().getValue() ^ Long.MIN_VALUE);
      }
      case TIMESTAMP -> {
        out.put(TypeClass.TIMESTAMP);
        out.putLong(value.asTimestamp().getValue());
      }
      default -> RawKeyEncoder.put(out, RawValues.write(value));
    }
  }

  private static void putBinary(ByteSink out, BsonBinary binary) {
    byte[] data = binary.getData();
    if (binary.getType() == BsonBinarySubType.OLD_BINARY.getValue()) {
      // Old binary data contains its length a second time. The repeated length counts as content.
      out.putInt(data.length + 4);
      out.put(binary.getType());
      out.putIntLittleEndian(data.length);
    } else {
      out.putInt(data.length);
      out.put(binary.getType());
    }
    out.put(data, 0, data.length);
  }

  private static byte[] objectId(ObjectId id) {
    byte[] key = new byte[13];
    key[0] = TypeClass.OBJECT_ID;
    byte[] bytes = id.toByteArray();
    System.arraycopy(bytes, 0, key, 1, bytes.length);
    return key;
  }

  private static byte @org.jspecify.annotations.Nullable [] asciiString(String text) {
    int length = text.length();
    byte[] key = new byte[length + 2];
    key[0] = TypeClass.STRING;
    for (int i = 0; i < length; i++) {
      char c = text.charAt(i);
      if (c < 2 || c >= 0x80) {
        return null;
      }
      key[i + 1] = (byte) c;
    }
    return key;
  }

  private static int sizeHint(BsonValue value) {
    return switch (value.getBsonType()) {
      case MIN_KEY, MAX_KEY, NULL, UNDEFINED -> 1;
      case BOOLEAN -> 2;
      case DATE_TIME, TIMESTAMP -> 9;
      case INT32 -> numberSize(value.asInt32().getValue());
      case INT64 -> numberSize(value.asInt64().getValue());
      case STRING -> value.asString().getValue().length() + 2;
      case BINARY -> value.asBinary().getData().length + 6;
      default -> 32;
    };
  }

  private static int numberSize(long value) {
    return value == Long.MIN_VALUE
        ? 11
        : 3 + ((71 - Long.numberOfLeadingZeros(Math.abs(value))) >>> 3);
  }
}
