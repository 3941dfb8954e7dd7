package dev.onehop.wire.message;

import io.netty.buffer.ByteBuf;
import java.nio.charset.StandardCharsets;
import org.bson.RawBsonDocument;

/**
 * Steps through the elements of a BSON document in a buffer without decoding it. What is decided
 * for every request is decided on these, so nothing but names is copied.
 *
 * <p>Format: bsonspec.org, version 1.1.
 */
public final class BsonFields {
  private static final byte DOUBLE = 0x01;
  private static final byte STRING = 0x02;
  private static final byte DOCUMENT = 0x03;
  private static final byte ARRAY = 0x04;
  private static final byte BOOLEAN = 0x08;
  private static final byte NULL = 0x0A;
  private static final byte REGEX = 0x0B;
  private static final byte INT32 = 0x10;
  private static final byte INT64 = 0x12;

  private final ByteBuf buffer;
  private final int end;
  private int next;
  private byte type;
  private int nameAt;
  private int value;

  /**
   * @param start where the document begins
   * @param limit where the bytes that may belong to it end
   * @throws MalformedDocumentException if the document claims more than that
   */
  public BsonFields(ByteBuf buffer, int start, int limit) {
    int size = limit - start >= 5 ? buffer.getIntLE(start) : -1;
    if (size < 5 || size > limit - start) {
      throw new MalformedDocumentException("a document claims " + size + " bytes");
    }
    this.buffer = buffer;
    this.end = start + size - 1;
    this.next = start + 4;
  }

  /** Where the document that starts at {@code start} ends, by its own account. */
  public static int endOf(ByteBuf buffer, int start) {
    return start + buffer.getIntLE(start);
  }

  /** Moves to the next element; false at the end. */
  public boolean next() {
    if (next >= end) {
      return false;
    }
    type = buffer.getByte(next);
    nameAt = next + 1;
    value = afterCString(nameAt);
    next = value + valueBytes();
    if (next < value || next > end) {
      throw new MalformedDocumentException("an element reaches beyond its document");
    }
    return true;
  }

  public String name() {
    return buffer.toString(nameAt, value - 1 - nameAt, StandardCharsets.UTF_8);
  }

  public boolean isDocument() {
    return type == DOCUMENT || type == ARRAY;
  }

  /** The elements of this document or array. */
  public BsonFields document() {
    return new BsonFields(buffer, value, next);
  }

  /** This document or array as a copy of its bytes. */
  public RawBsonDocument rawDocument() {
    if (!isDocument()) {
      throw new MalformedDocumentException("a document was expected");
    }
    return rawDocument(buffer, value, next);
  }

  /** A copy of the document in {@code start..end} of a buffer. */
  public static RawBsonDocument rawDocument(ByteBuf buffer, int start, int end) {
    byte[] bytes = new byte[end - start];
    buffer.getBytes(start, bytes);
    return new RawBsonDocument(bytes);
  }

  /** Where the value begins in the buffer. */
  public int valueAt() {
    return value;
  }

  /** Moves to the element of that name; false, at the end, if there is none from here on. */
  public boolean find(String wanted) {
    while (next()) {
      if (name().equals(wanted)) {
        return true;
      }
    }
    return false;
  }

  /** Whether this is an int32, an int64 or a double. */
  public boolean isNumber() {
    return type == INT32 || type == INT64 || type == DOUBLE;
  }

  public boolean isInt64() {
    return type == INT64;
  }

  /** Whether the document's first field name starts with {@code $}, as in an operator. */
  public boolean isOperatorDocument() {
    return type == DOCUMENT
        && buffer.getIntLE(value) > 5
        && buffer.getByte(value + 5) == (byte) '$';
  }

  /** Whether the value is a regular expression, by which a filter matches many. */
  public boolean isRegularExpression() {
    return type == REGEX;
  }

  public boolean isNull() {
    return type == NULL;
  }

  /** The number, 0 if it is none. */
  public long number() {
    return switch (type) {
      case INT32 -> buffer.getIntLE(value);
      case INT64 -> buffer.getLongLE(value);
      case DOUBLE -> (long) buffer.getDoubleLE(value);
      default -> 0;
    };
  }

  /** Whether this is true, or a number other than 0. */
  public boolean isTrue() {
    return type == BOOLEAN ? buffer.getByte(value) != 0 : number() != 0;
  }

  /** The string, "" if it is none. */
  public String string() {
    return type == STRING
        ? buffer.toString(value + 4, next - value - 5, StandardCharsets.UTF_8)
        : "";
  }

  private int valueBytes() {
    return switch (type) {
      case 0x06, NULL, (byte) 0xFF, 0x7F -> 0;
      case BOOLEAN -> 1;
      case INT32 -> 4;
      case DOUBLE, 0x09, 0x11, INT64 -> 8;
      case 0x07 -> 12;
      case 0x13 -> 16;
      case STRING, 0x0D, 0x0E -> 4 + length(1);
      case DOCUMENT, ARRAY, 0x0F -> length(5);
      case 0x05 -> 5 + length(0);
      case 0x0C -> 16 + length(1);
      case 0x0B -> afterCString(afterCString(value)) - value;
      default -> throw new MalformedDocumentException("unknown BSON type " + type);
    };
  }

  private int length(int atLeast) {
    int length = end - value >= 4 ? buffer.getIntLE(value) : -1;
    if (length < atLeast || length > end - value) {
      throw new MalformedDocumentException("an element claims " + length + " bytes");
    }
    return length;
  }

  private int afterCString(int from) {
    int nul = buffer.indexOf(from, end, (byte) 0);
    if (nul < 0) {
      throw new MalformedDocumentException("a name that does not end");
    }
    return nul + 1;
  }

  /** Bytes that are no BSON document. */
  public static final class MalformedDocumentException extends RuntimeException {
    private static final long serialVersionUID = 1;

    public MalformedDocumentException(String message) {
      super(message);
    }
  }
}
