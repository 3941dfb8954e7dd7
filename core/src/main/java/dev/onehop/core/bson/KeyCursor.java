package dev.onehop.core.bson;

/** Reads an encoded key byte by byte, optionally with flipped bits. Not thread-safe. */
final class KeyCursor {
  private final byte[] bytes;
  private final Position position;
  private final int mask;

  private static final class Position {
    int offset;
  }

  KeyCursor(byte[] bytes) {
    this(bytes, new Position(), 0);
  }

  private KeyCursor(byte[] bytes, Position position, int mask) {
    this.bytes = bytes;
    this.position = position;
    this.mask = mask;
  }

  /** A cursor at the same position that reads all bits flipped. Both cursors move together. */
  KeyCursor flipped(boolean flip) {
    return flip ? new KeyCursor(bytes, position, mask ^ 0xFF) : this;
  }

  boolean atEnd() {
    return position.offset >= bytes.length;
  }

  int peek() {
    if (atEnd()) {
      throw malformed("it ends too early");
    }
    return (bytes[position.offset] & 0xFF) ^ mask;
  }

  int next() {
    int value = peek();
    position.offset++;
    return value;
  }

  int nextInt() {
    return next() << 24 | next() << 16 | next() << 8 | next();
  }

  long nextLong() {
    return (long) nextInt() << 32 | (nextInt() & 0xFFFFFFFFL);
  }

  byte[] nextBytes(int length) {
    if (length < 0 || length > bytes.length - position.offset) {
      throw malformed("it ends too early");
    }
    byte[] out = new byte[length];
    for (int i = 0; i < length; i++) {
      out[i] = (byte) next();
    }
    return out;
  }

  MalformedBsonException malformed(String what) {
    return new MalformedBsonException(
        "not a sortable key: " + what + ", at byte " + position.offset);
  }
}
