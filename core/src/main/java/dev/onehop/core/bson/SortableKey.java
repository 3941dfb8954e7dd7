package dev.onehop.core.bson;

import java.util.Arrays;
import org.bson.BsonValue;

/**
 * Encodes BSON values as bytes whose unsigned order is the server's comparison order under the
 * simple collation. Values that the server considers equal have equal bytes.
 *
 * <p>No encoded value is a prefix of another, so the key of several fields is the concatenation of
 * their keys ({@link SortableKeyBuilder}). The first byte is the class of the type (null, number,
 * string, ...) and is never 0x00 or 0xFF. All keys of the class {@code b} are between the arrays
 * <code>{b}</code> and <code>{b + 1}</code>.
 *
 * <p>The format is for the memory of one process. It may change between versions, so it must not be
 * stored.
 */
public final class SortableKey {
  private SortableKey() {}

  /**
   * Encodes one value.
   *
   * @throws MalformedBsonException if the value cannot be encoded as BSON (a field name with a NUL,
   *     documents nested deeper than the server's limit, a malformed raw document)
   */
  public static byte[] encode(BsonValue value) {
    return KeyEncoder.encode(value);
  }

  /**
   * Decodes the key of one ascending field. If the server considers several values equal, the
   * result is one of them: an integer for a whole number, a double for another number if the double
   * is exact, and a string for a symbol.
   *
   * @throws MalformedBsonException if the array is not exactly the key of one value
   */
  public static BsonValue decode(byte[] key) {
    KeyCursor in = new KeyCursor(key);
    BsonValue value = KeyDecoder.read(in);
    if (!in.atEnd()) {
      throw in.malformed("more than one value");
    }
    return value;
  }

  /**
   * The prefix of the keys of all strings that begin with {@code text}. No other key has this
   * prefix.
   */
  public static byte[] stringPrefix(String text) {
    ByteSink out = new ByteSink(text.length() + 2);
    out.put(TypeClass.STRING);
    SortableText.put(out, text);
    return Arrays.copyOf(out.array(), out.size() - 1);
  }

  /** Compares two keys, or parts of keys, as the server compares their values. */
  public static int compare(byte[] a, byte[] b) {
    return Arrays.compareUnsigned(a, b);
  }
}
