package dev.onehop.testbed.internal.link;

import java.time.Duration;

/**
 * The distance between the host of a connection's opener and a link's host. MUST be thread-safe.
 */
@FunctionalInterface
public interface Distances {
  /**
   * The round trip between two hosts.
   *
   * @param from name of the host that opened the connection
   * @param to name of the host at the other end
   */
  Duration roundTrip(String from, String to);
}
