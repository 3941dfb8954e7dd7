package dev.onehop.core.bson;

import java.util.Arrays;

/** A growing byte array. Not thread-safe. */
final class ByteSink {
  private byte[] bytes;
  private int size;

  ByteSink(int capacity) {
    bytes = new byte[capacity];
  }

  int size() {
    return size;
  }

  void put(int value) {
    reserve(1);
    bytes[size++] = (byte) value;
  }

  void put(byte[] source, int offset, int length) {
    reserve(length);
    System.arraycopy(source, offset, bytes, size, length);
    size += length;
  }

  void putInt(int value) {
    reserve(4);
    ByteOrders.putInt(bytes, size, value);
    size += 4;
  }

  void putLong(long value) {
    reserve(8);
    ByteOrders.putLong(bytes, size, value);
    size += 8;
  }

  void putIntLittleEndian(int value) {
    putInt(Integer.reverseBytes(value));
  }

  void putLongLittleEndian(long value) {
    putLong(Long.reverseBytes(value));
  }

  /** Flips every bit of the bytes from {@code start} to the end. */
  void invertFrom(int start) {
    for (int i = start; i < size; i++) {
      bytes[i] = (byte) ~bytes[i];
    }
  }

  /** The array behind this sink; valid up to {@link #size()} and until the next {@code put}. */
  byte[] array() {
    return bytes;
  }

  /**
   * The bytes so far. The sink must not be used afterwards, because the result may be the array of
   * the sink.
   */
  byte[] toByteArray() {
    return size == bytes.length ? bytes : Arrays.copyOf(bytes, size);
  }

  private void reserve(int length) {
    int needed = Math.addExact(size, length);
    if (needed > bytes.length) {
      bytes =
          Arrays.copyOf(bytes, (int) Math.min(Integer.MAX_VALUE - 8, Math.max(needed, 2L * size)));
    }
  }
}
