package dev.onehop.testbed.internal;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;

/** Loopback addresses for tests. */
public final class Loopback {
  private Loopback() {}

  /** The address {@code 127.a.b.c}. */
  public static InetAddress ip(int a, int b, int c) {
    try {
      return InetAddress.getByAddress(new byte[] {127, (byte) a, (byte) b, (byte) c});
    } catch (UnknownHostException e) {
      throw new IllegalStateException(e);
    }
  }

  /** A port of it. */
  public static InetSocketAddress socket(int a, int b, int c, int port) {
    return new InetSocketAddress(ip(a, b, c), port);
  }
}
