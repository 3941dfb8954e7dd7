package dev.onehop.core.bson;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.bson.BsonType;
import org.bson.ByteBuf;
import org.bson.RawBsonDocument;
import org.jspecify.annotations.Nullable;

/** Iterates over the elements of one BSON document in a byte array. Not thread-safe. */
final class ElementCursor extends Elements {
  private final byte[] bytes;

  /** A cursor before the first element of the document in {@code offset..limit}. */
  ElementCursor(byte[] bytes, int offset, int limit) {
    this(bytes, offset, limit, 0);
  }

  /** A cursor before the first element of a document. */
  static ElementCursor of(RawBsonDocument document) {
    // This view of an array needs no release. A release counts with an atomic operation, and the
    // JVM then allocates the view for each call.
    ByteBuf buffer = document.getByteBuffer();
    int offset = buffer.arrayOffset() + buffer.position();
    return new ElementCursor(buffer.array(), offset, offset + buffer.remaining());
  }

  private ElementCursor(byte[] bytes, int offset, int limit, int depth) {
    super(depth);
    this.bytes = bytes;
    enter(offset, limit);
    if (end() != limit - 1) {
      throw malformed("a document of less than " + (limit - offset) + " bytes", offset);
    }
  }

  private ElementCursor(ElementCursor other) {
    super(other);
    this.bytes = other.bytes;
  }

  /** Another cursor at the same element. It stays there when this cursor moves. */
  ElementCursor copy() {
    return new ElementCursor(this);
  }

  @Override
  protected byte byteAt(int offset) {
    return bytes[offset];
  }

  @Override
  protected int intAt(int offset) {
    return ByteOrders.getIntLittleEndian(bytes, offset);
  }

  @Override
  protected int zeroIn(int from, int to) {
    for (int i = from; i < to; i++) {
      if (bytes[i] == 0) {
        return i;
      }
    }
    return -1;
  }

  @Override
  protected MalformedBsonException malformed(String what, int offset) {
    return new MalformedBsonException("malformed BSON: " + what + ", at byte " + offset);
  }

  byte[] bytes() {
    return bytes;
  }

  String name() {
    return new String(bytes, nameOffset(), nameLength(), StandardCharsets.UTF_8);
  }

  /** Moves to the next element with this name; returns false if there is none. */
  boolean seek(byte[] name) {
    while (next()) {
      if (isNamed(name)) {
        return true;
      }
    }
    return false;
  }

  /** Whether the current element has this name. */
  boolean isNamed(byte[] name) {
    return nameLength() == name.length
        && Arrays.equals(bytes, nameOffset(), nameOffset() + name.length, name, 0, name.length);
  }

  /** A cursor over this element's value, which must be an object or array. */
  ElementCursor open() {
    return openAt(valueOffset());
  }

  /** A cursor over the document that starts at {@code offset} and ends where this value ends. */
  ElementCursor openAt(int offset) {
    return new ElementCursor(bytes, offset, valueOffset() + valueLength(), depth() + 1);
  }

  /**
   * Finds the element at a path. If an array is on the path, the result is the array. Null if there
   * is no element.
   */
  @Nullable ElementCursor find(byte[][] path) {
    ElementCursor cursor = this;
    for (int i = 0; ; i++) {
      if (!cursor.seek(path[i])) {
        return null;
      }
      if (i == path.length - 1 || cursor.type() == BsonType.ARRAY) {
        return cursor;
      }
      if (cursor.type() != BsonType.DOCUMENT) {
        return null;
      }
      cursor = cursor.open();
    }
  }
}
