package dev.onehop.core.bson;

import org.bson.BsonType;

/**
 * Iterates over the elements of one BSON document, in any kind of buffer. Every offset is checked
 * to be inside the document before it is read. Not thread-safe.
 *
 * <p>Format: bsonspec.org, version 1.1.
 */
public abstract class Elements {
  /** The greatest depth of nested documents that servers accept. */
  static final int MAX_DEPTH = 200;

  private static final int MIN_DOCUMENT = 5;

  private final int depth;
  private int end;
  private int next;

  private BsonType type = BsonType.END_OF_DOCUMENT;
  private int nameOffset;
  private int valueOffset;

  /**
   * @param depth the number of documents that contain this one
   */
  protected Elements(int depth) {
    this.depth = depth;
  }

  /** A copy that is at the same element. */
  protected Elements(Elements other) {
    depth = other.depth;
    end = other.end;
    next = other.next;
    type = other.type;
    nameOffset = other.nameOffset;
    valueOffset = other.valueOffset;
  }

  /** The byte at an offset. */
  protected abstract byte byteAt(int offset);

  /** The little-endian number at an offset. */
  protected abstract int intAt(int offset);

  /** The index of the first zero byte in {@code from..to}, -1 if there is none. */
  protected abstract int zeroIn(int from, int to);

  /** The exception for malformed bytes. */
  protected abstract RuntimeException malformed(String what, int offset);

  /**
   * Moves before the first element of the document at {@code offset}, which must end within {@code
   * limit}.
   */
  protected final void enter(int offset, int limit) {
    int available = limit - offset;
    if (available < MIN_DOCUMENT) {
      throw malformed("a document of " + available + " bytes", offset);
    }
    int length = intAt(offset);
    if (length < MIN_DOCUMENT || length > available) {
      throw malformed(
          "a document has a length of " + length + " bytes, where " + available + " bytes are left",
          offset);
    }
    end = offset + length - 1;
    if (byteAt(end) != 0) {
      throw malformed("a document does not end with 0x00", end);
    }
    if (depth > MAX_DEPTH) {
      throw malformed("documents nested deeper than " + MAX_DEPTH, offset);
    }
    next = offset + 4;
  }

  /** The number of documents that contain this one. */
  protected final int depth() {
    return depth;
  }

  /** The offset of the 0x00 that ends the document. */
  protected final int end() {
    return end;
  }

  /** Moves to the next element; false after the last. */
  public final boolean next() {
    if (next >= end) {
      return false;
    }
    int typeOffset = next;
    BsonType found = BsonType.findByValue(byteAt(typeOffset) & 0xFF);
    if (found == null || found == BsonType.END_OF_DOCUMENT) {
      throw malformed("an element of unknown type " + (byteAt(typeOffset) & 0xFF), typeOffset);
    }
    type = found;
    nameOffset = typeOffset + 1;
    valueOffset = endOfCString(nameOffset);
    next = valueOffset + lengthOfValue();
    return true;
  }

  /** The type of the current element. */
  public final BsonType type() {
    return type;
  }

  /** The offset of the current element's name. */
  public final int nameOffset() {
    return nameOffset;
  }

  /** The length of the current element's name, without its NUL. */
  public final int nameLength() {
    return valueOffset - 1 - nameOffset;
  }

  /** The offset of the current element's value. */
  public final int valueOffset() {
    return valueOffset;
  }

  /** The length of the current element's value. */
  public final int valueLength() {
    return next - valueOffset;
  }

  /** The offset just past the NUL of the C string at {@code offset}. */
  protected final int endOfCString(int offset) {
    int nul = zeroIn(offset, end);
    if (nul < 0) {
      throw malformed("a name or C string without end", offset);
    }
    return nul + 1;
  }

  /** The length, without its NUL, of the length-prefixed string at {@code offset}. */
  protected final int stringLength(int offset) {
    int length = lengthAt(offset);
    if (length < 1 || length > end - offset - 4) {
      throw malformed("a string of " + length + " bytes", offset);
    }
    if (byteAt(offset + 3 + length) != 0) {
      throw malformed("a string that does not end with 0x00", offset + 3 + length);
    }
    return length - 1;
  }

  private int lengthAt(int offset) {
    if (end - offset < 4) {
      throw malformed("a value ends too early", offset);
    }
    return intAt(offset);
  }

  private int lengthOfValue() {
    int length = unboundedLength();
    if (length < 0 || length > end - valueOffset) {
      throw malformed("a value of type " + type + " ends too early", valueOffset);
    }
    if (type == BsonType.BOOLEAN && (byteAt(valueOffset) & 0xFE) != 0) {
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
    int length = lengthAt(valueOffset);
    if (length < 0 || length > end - valueOffset - 5) {
      throw malformed("binary data of " + length + " bytes", valueOffset);
    }
    return 5 + length;
  }

  private int documentLength(int offset) {
    int length = lengthAt(offset);
    if (length < MIN_DOCUMENT || length > end - offset) {
      throw malformed("a document of " + length + " bytes", offset);
    }
    return length;
  }

  /**
   * The length of a value of the type "code with scope". It must equal the sum of its parts: total
   * length, code, scope.
   */
  private int codeWithScopeLength() {
    int length = documentLength(valueOffset);
    int scopeOffset = valueOffset + 9 + stringLength(valueOffset + 4);
    if (scopeOffset - valueOffset + documentLength(scopeOffset) != length) {
      throw malformed("code with scope whose length is not the sum of its parts", valueOffset);
    }
    return length;
  }
}
