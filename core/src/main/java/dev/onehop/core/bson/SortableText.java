package dev.onehop.core.bson;

import java.nio.charset.StandardCharsets;

/**
 * Encodes text as UTF-8, terminated by 0x00. Within the text, the byte 0x00 becomes 0x01 0x01, and
 * the byte 0x01 becomes 0x01 0x02. The bytes sort like the text, and no key is a prefix of another.
 *
 * <p>A lone surrogate becomes three bytes, as in the driver.
 */
final class SortableText {
  private SortableText() {}

  static void put(ByteSink out, String text) {
    int length = text.length();
    for (int i = 0; i < length; i++) {
      char c = text.charAt(i);
      if (c < 0x80) {
        putEscaped(out, c);
      } else if (c < 0x800) {
        out.put(0xC0 | (c >> 6));
        out.put(0x80 | (c & 0x3F));
      } else {
        int codePoint = text.codePointAt(i);
        if (codePoint > Character.MAX_VALUE) {
          i++;
          out.put(0xF0 | (codePoint >> 18));
          out.put(0x80 | ((codePoint >> 12) & 0x3F));
        } else {
          out.put(0xE0 | (codePoint >> 12));
        }
        out.put(0x80 | ((codePoint >> 6) & 0x3F));
        out.put(0x80 | (codePoint & 0x3F));
      }
    }
    out.put(0);
  }

  static void put(ByteSink out, byte[] utf8, int offset, int length) {
    for (int i = offset; i < offset + length; i++) {
      putEscaped(out, utf8[i]);
    }
    out.put(0);
  }

  static String read(KeyCursor in) {
    ByteSink text = new ByteSink(32);
    for (int b = in.next(); b != 0; b = in.next()) {
      if (b == 1) {
        int escaped = in.next();
        if (escaped != 1 && escaped != 2) {
          throw in.malformed("an unknown escape in a string");
        }
        b = escaped - 1;
      }
      text.put(b);
    }
    return new String(text.array(), 0, text.size(), StandardCharsets.UTF_8);
  }

  private static void putEscaped(ByteSink out, int b) {
    if (b == 0 || b == 1) {
      out.put(1);
      out.put(b + 1);
    } else {
      out.put(b);
    }
  }
}
