package dev.onehop.core.bson;

import org.bson.types.Decimal128;

/** Encodes values directly from BSON bytes. */
final class RawKeyEncoder {
  private static final int OBJECT_ID_LENGTH = 12;

  private RawKeyEncoder() {}

  /** Appends the cursor's current value. */
  static void put(ByteSink out, ElementCursor element) {
    out.put(typeClass(element));
    putPayload(out, element);
  }

  private static void putPayload(ByteSink out, ElementCursor element) {
    byte[] bytes = element.bytes();
    int offset = element.valueOffset();
    switch (element.type()) {
      case MIN_KEY, MAX_KEY, UNDEFINED, NULL -> {}
      case INT32 -> SortableNumber.put(out, (long) ByteOrders.getIntLittleEndian(bytes, offset));
      case INT64 -> SortableNumber.put(out, ByteOrders.getLongLittleEndian(bytes, offset));
      case DOUBLE ->
          SortableNumber.put(
              out, Double.longBitsToDouble(ByteOrders.getLongLittleEndian(bytes, offset)));
      case DECIMAL128 ->
          SortableNumber.put(
              out,
              Decimal128.fromIEEE754BIDEncoding(
                  ByteOrders.getLongLittleEndian(bytes, offset + 8),
                  ByteOrders.getLongLittleEndian(bytes, offset)));
      case STRING, SYMBOL, JAVASCRIPT ->
          SortableText.put(out, bytes, offset + 4, element.stringLength(offset));
      case DOCUMENT, ARRAY -> putElements(out, element.open());
      case BINARY -> {
        out.putInt(ByteOrders.getIntLittleEndian(bytes, offset));
        out.put(bytes, offset + 4, element.valueLength() - 4);
      }
      case OBJECT_ID, BOOLEAN -> out.put(bytes, offset, element.valueLength());
      case DATE_TIME -> out.putLong(ByteOrders.getLongLittleEndian(bytes, offset) ^ Long.MIN_VALUE);
      case TIMESTAMP -> out.putLong(ByteOrders.getLongLittleEndian(bytes, offset));
      // Two C strings, which already end with 0x00.
      case REGULAR_EXPRESSION -> out.put(bytes, offset, element.valueLength());
      case DB_POINTER -> {
        // In an index, the namespace ends at its first NUL, even if the string continues.
        int length = element.endOfCString(offset + 4) - offset - 4;
        out.putInt(length);
        out.put(bytes, offset + 4, length);
        out.put(bytes, offset + element.valueLength() - OBJECT_ID_LENGTH, OBJECT_ID_LENGTH);
      }
      case JAVASCRIPT_WITH_SCOPE -> {
        int codeLength = element.stringLength(offset + 4);
        SortableText.put(out, bytes, offset + 8, codeLength);
        putElements(out, element.openAt(offset + 9 + codeLength));
      }
      case END_OF_DOCUMENT -> throw new AssertionError();
    }
  }

  private static void putElements(ByteSink out, ElementCursor elements) {
    while (elements.next()) {
      out.put(typeClass(elements));
      out.put(elements.bytes(), elements.nameOffset(), elements.nameLength() + 1);
      putPayload(out, elements);
    }
    out.put(TypeClass.END);
  }

  private static int typeClass(ElementCursor element) {
    return switch (element.type()) {
      case MIN_KEY -> TypeClass.MIN_KEY;
      case UNDEFINED -> TypeClass.UNDEFINED;
      case NULL -> TypeClass.NULL;
      case INT32, INT64, DOUBLE, DECIMAL128 -> TypeClass.NUMBER;
      case STRING, SYMBOL -> TypeClass.STRING;
      case DOCUMENT -> TypeClass.OBJECT;
      case ARRAY -> TypeClass.ARRAY;
      case BINARY -> TypeClass.BINARY;
      case OBJECT_ID -> TypeClass.OBJECT_ID;
      case BOOLEAN -> TypeClass.BOOLEAN;
      case DATE_TIME -> TypeClass.DATE;
      case TIMESTAMP -> TypeClass.TIMESTAMP;
      case REGULAR_EXPRESSION -> TypeClass.REGEX;
      case DB_POINTER -> TypeClass.DB_POINTER;
      case JAVASCRIPT -> TypeClass.CODE;
      case JAVASCRIPT_WITH_SCOPE -> TypeClass.CODE_WITH_SCOPE;
      case MAX_KEY -> TypeClass.MAX_KEY;
      case END_OF_DOCUMENT -> throw new AssertionError();
    };
  }
}
