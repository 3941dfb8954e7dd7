package dev.onehop.core.bson;

import java.util.Arrays;
import org.bson.BsonValue;

/**
 * BSON values as bytes whose unsigned order is the server's comparison order under the simple
 * collation, values that the server holds equal being equal bytes.
 *
 * <p>No encoded value is a prefix of another, so the fields of a compound key are simply put one
 * after the other ({@link SortableKeyBuilder}). The first byte tells the class of the type (null,
 * number, string, ...) and is never 0x00 or 0xFF: all values of a class lie between <code>{b}
 * </code> and <code>{b + 1}</code>.
 *
 * <p>The format is for one process's memory. It may change between versions; don't store it.
 */
public final class SortableKey {
  private SortableKey() {}

  /**
   * Encodes one value.
   *
   * @throws MalformedBsonException if the value can't be written as BSON (a field name with a NUL,
   *     documents nested deeper than the server allows, a raw document with broken bytes)
   */
  public static byte[] encode(BsonValue value) {
    return KeyEncoder.encode(value);
  }

  /**
   * The value behind a key of one ascending field. Where the server holds several values equal it
   * is one of them: an integer if the number is one, else a double if that is exact; a string for a
   * symbol.
   *
   * @throws MalformedBsonException if these are not exactly the bytes of one value
   */
  public static BsonValue decode(byte[] key) {
    KeyCursor in = new KeyCursor(key);
    BsonValue value = KeyDecoder.read(in);
    if (!in.atEnd()) {
      throw in.malformed("more than one value");
    }
    return value;
  }

  /** The bytes with which exactly the strings that start with {@code text} begin. */
  public static byte[] stringPrefix(String text) {
    ByteSink out = new ByteSink(text.length() + 2);
    out.put(TypeClass.STRING);
    SortableText.put(out, text);
    return Arrays.copyOf(out.array(), out.size() - 1);
  }

  /** Compares two keys, or parts of keys, as the server compares the values behind them. */
  public static int compare(byte[] a, byte[] b) {
    return Arrays.compareUnsigned(a, b);
  }
}
