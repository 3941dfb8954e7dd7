package dev.onehop.core.bson;

import java.nio.charset.StandardCharsets;
import org.bson.BsonType;
import org.bson.ByteBuf;
import org.bson.RawBsonDocument;
import org.jspecify.annotations.Nullable;

/**
 * Walks the elements of one BSON document inside a byte array. Nothing is read before it was
 * checked to lie inside the document. Not thread-safe.
 */
final class ElementCursor {
  /** As deep as the server lets documents nest. */
  static final int MAX_DEPTH = 200;

  private static final int MIN_DOCUMENT = 5;

  private final byte[] bytes;
  private final int end;
  private final int depth;
  private int next;

  private BsonType type = BsonType.END_OF_DOCUMENT;
  private int nameOffset;
  private int nameLength;
  private int valueOffset;
  private int valueLength;

  /** A cursor before the first element of the document that fills {@code offset..limit}. */
  ElementCursor(byte[] bytes, int offset, int limit) {
    this(bytes, offset, limit, 0);
  }

  /** A cursor before the first element of a document. */
  static ElementCursor of(RawBsonDocument document) {
    ByteBuf buffer = document.getByteBuffer();
    try {
      int length = buffer.remaining();
      if (buffer.isBackedByArray()) {
        int offset = buffer.arrayOffset() + buffer.position();
        return new ElementCursor(buffer.array(), offset, offset + length);
      }
      byte[] bytes = new byte[length];
      buffer.get(bytes);
      return new ElementCursor(bytes, 0, length);
    } finally {
      buffer.release();
    }
  }

  private ElementCursor(byte[] bytes, int offset, int limit, int depth) {
    this.bytes = bytes;
    this.depth = depth;
    int available = limit - offset;
    if (available < MIN_DOCUMENT) {
      throw malformed("a document of " + available + " bytes", offset);
    }
    int length = ByteOrders.getIntLittleEndian(bytes, offset);
    if (length != available) {
      throw malformed("a document says " + length + " bytes where there are " + available, offset);
    }
    if (bytes[limit - 1] != 0) {
      throw malformed("a document does not end with 0x00", limit - 1);
    }
    if (depth > MAX_DEPTH) {
      throw malformed("documents nested deeper than " + MAX_DEPTH, offset);
    }
    this.end = limit - 1;
    this.next = offset + 4;
  }

  /** Moves to the next element; false after the last. */
  boolean next() {
    if (next >= end) {
      return false;
    }
    int typeOffset = next;
    BsonType found = BsonType.findByValue(bytes[typeOffset] & 0xFF);
    if (found == null || found == BsonType.END_OF_DOCUMENT) {
      throw malformed("an element of unknown type " + (bytes[typeOffset] & 0xFF), typeOffset);
    }
    type = found;
    nameOffset = typeOffset + 1;
    valueOffset = endOfCString(nameOffset);
    nameLength = valueOffset - 1 - nameOffset;
    valueLength = lengthOfValue();
    next = valueOffset + valueLength;
    return true;
  }

  byte[] bytes() {
    return bytes;
  }

  BsonType type() {
    return type;
  }

  String name() {
    return new String(bytes, nameOffset, nameLength, StandardCharsets.UTF_8);
  }

  int nameOffset() {
    return nameOffset;
  }

  int nameLength() {
    return nameLength;
  }

  int valueOffset() {
    return valueOffset;
  }

  int valueLength() {
    return valueLength;
  }

  /** Moves to the first element of that name; false if there is none. */
  boolean seek(byte[] name) {
    while (next()) {
      if (java.util.Arrays.equals(
          bytes, nameOffset, nameOffset + nameLength, name, 0, name.length)) {
        return true;
      }
    }
    return false;
  }

  /** A cursor over this element's value, an object or array. */
  ElementCursor open() {
    return openAt(valueOffset);
  }

  /** A cursor over the document that starts at {@code offset} and ends where this value ends. */
  ElementCursor openAt(int offset) {
    return new ElementCursor(bytes, offset, valueOffset + valueLength, depth + 1);
  }

  /** The offset just past the NUL of the C string at {@code offset}. */
  int endOfCString(int offset) {
    for (int i = offset; i < end; i++) {
      if (bytes[i] == 0) {
        return i + 1;
      }
    }
    throw malformed("a name or C string without end", offset);
  }

  /** The length, without its NUL, of the length-prefixed string at {@code offset}. */
  int stringLength(int offset) {
    int length = intAt(offset);
    if (length < 1 || length > end - offset - 4) {
      throw malformed("a string of " + length + " bytes", offset);
    }
    if (bytes[offset + 3 + length] != 0) {
      throw malformed("a string that does not end with 0x00", offset + 3 + length);
    }
    return length - 1;
  }

  MalformedBsonException malformed(String what, int offset) {
    return new MalformedBsonException("malformed BSON: " + what + ", at byte " + offset);
  }

  private int intAt(int offset) {
    if (end - offset < 4) {
      throw malformed("a value ends too early", offset);
    }
    return ByteOrders.getIntLittleEndian(bytes, offset);
  }

  private int lengthOfValue() {
    int length = unboundedLength();
    if (length < 0 || length > end - valueOffset) {
      throw malformed("a value of type " + type + " ends too early", valueOffset);
    }
    if (type == BsonType.BOOLEAN && (bytes[valueOffset] & 0xFE) != 0) {
      throw malformed("a boolean that is neither 0 nor 1", valueOffset);
    }
    return length;
  }

  private int unboundedLength() {
    return switch (type) {
      case MIN_KEY, MAX_KEY, UNDEFINED, NULL -> 0;
      case BOOLEAN -> 1;
      case INT32 -> 4;
      case INT64, DOUBLE, DATE_TIME, TIMESTAMP -> 8;
      case OBJECT_ID -> 12;
      case DECIMAL128 -> 16;
      case STRING, SYMBOL, JAVASCRIPT -> 5 + stringLength(valueOffset);
      case DB_POINTER -> 17 + stringLength(valueOffset);
      case REGULAR_EXPRESSION -> endOfCString(endOfCString(valueOffset)) - valueOffset;
      case BINARY -> binaryLength();
      case DOCUMENT, ARRAY -> documentLength(valueOffset);
      case JAVASCRIPT_WITH_SCOPE -> codeWithScopeLength();
      case END_OF_DOCUMENT -> throw malformed("an end inside a document", valueOffset);
    };
  }

  private int binaryLength() {
    int length = intAt(valueOffset);
    if (length < 0 || length > end - valueOffset - 5) {
      throw malformed("binary data of " + length + " bytes", valueOffset);
    }
    return 5 + length;
  }

  private int documentLength(int offset) {
    int length = intAt(offset);
    if (length < MIN_DOCUMENT || length > end - offset) {
      throw malformed("a document of " + length + " bytes", offset);
    }
    return length;
  }

  /** Total length, code, scope: the parts must fill the total. */
  private int codeWithScopeLength() {
    int length = documentLength(valueOffset);
    int scopeOffset = valueOffset + 9 + stringLength(valueOffset + 4);
    if (scopeOffset - valueOffset + documentLength(scopeOffset) != length) {
      throw malformed("code with scope whose parts don't fill it", valueOffset);
    }
    return length;
  }

  /** Finds a dotted path; the array itself where one lies on the way. Null if there is nothing. */
  @Nullable ElementCursor find(byte[][] path) {
    ElementCursor cursor = this;
    for (int i = 0; ; i++) {
      if (!cursor.seek(path[i])) {
        return null;
      }
      if (i == path.length - 1 || cursor.type == BsonType.ARRAY) {
        return cursor;
      }
      if (cursor.type != BsonType.DOCUMENT) {
        return null;
      }
      cursor = cursor.open();
    }
  }
}
