package dev.onehop.wire.message;

import dev.onehop.core.bson.Elements;
import io.netty.buffer.ByteBuf;
import java.nio.charset.StandardCharsets;
import org.bson.BsonType;
import org.bson.RawBsonDocument;

/**
 * Iterates over the elements of a BSON document in a buffer without decoding it. Routing reads each
 * request with this class, which therefore copies only names.
 */
public final class BsonFields extends Elements {
  // A cache, because commands and replies use the same few names. At worst, a race between threads
  // loses an entry.
  private static final String[] LAST_NAMES = new String[256];
  private static final int LONGEST_KEPT = 32;

  private final ByteBuf buffer;

  /**
   * @param start the index of the document
   * @param limit the end of the bytes that may belong to the document
   * @throws MalformedDocumentException if the document's length exceeds the limit
   */
  public BsonFields(ByteBuf buffer, int start, int limit) {
    this(buffer, start, limit, 0);
  }

  private BsonFields(ByteBuf buffer, int start, int limit, int depth) {
    super(depth);
    this.buffer = buffer;
    enter(start, limit);
  }

  @Override
  protected byte byteAt(int offset) {
    return buffer.getByte(offset);
  }

  @Override
  protected int intAt(int offset) {
    return buffer.getIntLE(offset);
  }

  @Override
  protected int zeroIn(int from, int to) {
    return buffer.indexOf(from, to, (byte) 0);
  }

  @Override
  protected MalformedDocumentException malformed(String what, int offset) {
    return new MalformedDocumentException(what + ", at byte " + offset);
  }

  /** The end of the document that starts at {@code start}, by its length field. */
  public static int endOf(ByteBuf buffer, int start) {
    return start + buffer.getIntLE(start);
  }

  /** The name of the current element. */
  public String name() {
    int length = nameLength();
    int ends = buffer.getByte(nameOffset()) * 31 + buffer.getByte(nameOffset() + length - 1);
    int at = (ends * 31 + length) & (LAST_NAMES.length - 1);
    String last = LAST_NAMES[at];
    if (last != null && isName(last)) {
      return last;
    }
    String name = buffer.toString(nameOffset(), length, StandardCharsets.UTF_8);
    if (length <= LONGEST_KEPT) {
      LAST_NAMES[at] = name;
    }
    return name;
  }

  private boolean isName(String ascii) {
    int length = ascii.length();
    if (length != nameLength()) {
      return false;
    }
    for (int i = 0; i < length; i++) {
      if (ascii.charAt(i) != buffer.getByte(nameOffset() + i)) {
        return false;
      }
    }
    return true;
  }

  public boolean isDocument() {
    return type() == BsonType.DOCUMENT || type() == BsonType.ARRAY;
  }

  /** The elements of the current element's document or array. */
  public BsonFields document() {
    return new BsonFields(buffer, valueOffset(), valueEnd(), depth() + 1);
  }

  /** The current element's document or array as a copy of its bytes. */
  public RawBsonDocument rawDocument() {
    if (!isDocument()) {
      throw new MalformedDocumentException("a document was expected");
    }
    return rawDocument(buffer, valueOffset(), valueEnd());
  }

  /** A copy of the document in {@code start..end} of a buffer. */
  public static RawBsonDocument rawDocument(ByteBuf buffer, int start, int end) {
    byte[] bytes = new byte[end - start];
    buffer.getBytes(start, bytes);
    return new RawBsonDocument(bytes);
  }

  private int valueEnd() {
    return valueOffset() + valueLength();
  }

  /**
   * Moves to the next element with an ASCII name. If there is none, moves to the end and returns
   * false.
   */
  public boolean find(String wanted) {
    while (next()) {
      if (isName(wanted)) {
        return true;
      }
    }
    return false;
  }

  /** Whether the current element is an int32, an int64 or a double. */
  public boolean isNumber() {
    return type() == BsonType.INT32 || type() == BsonType.INT64 || type() == BsonType.DOUBLE;
  }

  /**
   * Whether the current element is a document whose first name starts with {@code $}, as in {@code
   * {$gt: 1}}.
   */
  public boolean isOperatorDocument() {
    return type() == BsonType.DOCUMENT
        && valueLength() > 5
        && buffer.getByte(valueOffset() + 5) == (byte) '$';
  }

  /** The current element's number, 0 if it is not a number. */
  public long number() {
    return switch (type()) {
      case INT32 -> buffer.getIntLE(valueOffset());
      case INT64 -> buffer.getLongLE(valueOffset());
      case DOUBLE -> (long) buffer.getDoubleLE(valueOffset());
      default -> 0;
    };
  }

  /** Whether the current element is true, or a number other than 0. */
  public boolean isTrue() {
    return type() == BsonType.BOOLEAN ? buffer.getByte(valueOffset()) != 0 : number() != 0;
  }

  /** The current element's string, "" if it is not a string. */
  public String string() {
    return type() == BsonType.STRING
        ? buffer.toString(valueOffset() + 4, valueLength() - 5, StandardCharsets.UTF_8)
        : "";
  }

  /** Bytes that are not a BSON document. */
  public static final class MalformedDocumentException extends RuntimeException {
    private static final long serialVersionUID = 1;

    public MalformedDocumentException(String message) {
      super(message);
    }
  }
}
