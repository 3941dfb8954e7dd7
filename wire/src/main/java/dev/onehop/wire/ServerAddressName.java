package dev.onehop.wire;

import java.util.Arrays;
import java.util.List;

/**
 * The name of a server in the format of the cluster's metadata: {@code host:port}. Names are
 * compared as text, without a lookup.
 *
 * @param host name or address, lower case, without brackets
 * @param port 1 to 65535
 */
public record ServerAddressName(String host, int port) {
  private static final int DEFAULT_PORT = 27017;

  public ServerAddressName {
    host = host.toLowerCase(java.util.Locale.ROOT);
    if (host.isEmpty() || port < 1 || port > 65535) {
      throw new IllegalArgumentException("not a server address: " + host + ":" + port);
    }
  }

  /**
   * Parses {@code host}, {@code host:port} or {@code [ipv6]:port}.
   *
   * @throws IllegalArgumentException if the text has another format
   */
  public static ServerAddressName parse(String text) {
    int bracket = text.lastIndexOf(']');
    int colon = text.indexOf(':', Math.max(bracket, 0));
    String host = colon < 0 ? text : text.substring(0, colon);
    if (host.startsWith("[") && host.endsWith("]")) {
      host = host.substring(1, host.length() - 1);
    }
    try {
      return new ServerAddressName(
          host, colon < 0 ? DEFAULT_PORT : Integer.parseInt(text.substring(colon + 1)));
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException("not a server address: " + text, e);
    }
  }

  /** The members in the connection string of a replica set, {@code name/host:port,...}. */
  public static List<ServerAddressName> members(String replicaSet) {
    return Arrays.stream(replicaSet.substring(replicaSet.indexOf('/') + 1).split(",", -1))
        .map(member -> parse(member.trim()))
        .toList();
  }

  @Override
  public String toString() {
    return (host.indexOf(':') >= 0 ? "[" + host + "]" : host) + ":" + port;
  }
}
