package dev.onehop.measure.propagate;

import dev.onehop.resync.Failure;

/**
 * Where a process listens for another one.
 *
 * @param host a name or an address; empty for all addresses of this machine
 * @param port from 1 to 65535
 */
public record PeerAddress(String host, int port) {

  private static final int MOST = 65_535;

  /**
   * Reads an address.
   *
   * @param option what it is given by, for messages
   * @param text {@code host:port}, or a port where the host is this machine
   * @throws Failure if it is none
   */
  public static PeerAddress parse(String option, String text) {
    int colon = text.lastIndexOf(':');
    String port = text.substring(colon + 1);
    if (!port.matches("\\d{1,5}") || Integer.parseInt(port) < 1 || Integer.parseInt(port) > MOST) {
      throw Failure.usage(
          option + " " + text + ": write it as HOST:PORT, with a port from 1 to " + MOST);
    }
    String host = colon < 0 ? "" : text.substring(0, colon);
    return new PeerAddress(
        host.startsWith("[") && host.endsWith("]") ? host.substring(1, host.length() - 1) : host,
        Integer.parseInt(port));
  }

  @Override
  public String toString() {
    return host + ":" + port;
  }
}
