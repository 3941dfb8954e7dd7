package dev.onehop.routing.internal.transport;

import java.net.InetSocketAddress;
import org.jspecify.annotations.Nullable;

/**
 * A server as lanes see it: one address, with or without TLS.
 *
 * @param address the resolved address that the driver connects to
 * @param tlsName the name that the server's certificate must bear, null without TLS
 */
record ServerKey(InetSocketAddress address, @Nullable String tlsName) {
  /** host:port, for messages and meters. */
  String name() {
    return address.getHostString() + ":" + address.getPort();
  }

  @Override
  public String toString() {
    return name();
  }
}
