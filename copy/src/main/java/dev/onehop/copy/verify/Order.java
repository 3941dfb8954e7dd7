package dev.onehop.copy.verify;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** A key as bytes in the servers' order, which keys of a map can be. */
final class Order {
  private final byte[] bytes;

  Order(byte[] bytes) {
    this.bytes = bytes;
  }

  int length() {
    return bytes.length;
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof Order order && Arrays.equals(bytes, order.bytes);
  }

  @Override
  public int hashCode() {
    return Arrays.hashCode(bytes);
  }
}
