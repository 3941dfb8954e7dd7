package dev.onehop.core.bson;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/**
 * Integers in byte arrays. They are big-endian, except if the name of a method states otherwise.
 */
final class ByteOrders {
  private static final VarHandle INT_BE =
      MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.BIG_ENDIAN);
  private static final VarHandle LONG_BE =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);
  private static final VarHandle INT_LE =
      MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);
  private static final VarHandle LONG_LE =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

  private ByteOrders() {}

  static void putInt(byte[] bytes, int offset, int value) {
    INT_BE.set(bytes, offset, value);
  }

  static void putLong(byte[] bytes, int offset, long value) {
    LONG_BE.set(bytes, offset, value);
  }

  static int getInt(byte[] bytes, int offset) {
    return (int) INT_BE.get(bytes, offset);
  }

  static long getLong(byte[] bytes, int offset) {
    return (long) LONG_BE.get(bytes, offset);
  }

  static int getIntLittleEndian(byte[] bytes, int offset) {
    return (int) INT_LE.get(bytes, offset);
  }

  static long getLongLittleEndian(byte[] bytes, int offset) {
    return (long) LONG_LE.get(bytes, offset);
  }
}
