package dev.onehop.testbed.internal.link;

import java.time.Duration;

/** How far a link's host is from the host that opens a connection. MUST be thread-safe. */
@FunctionalInterface
public interface Distances {
  /**
   * The round trip between two hosts.
   *
   * @param from name of the host that opened the connection
   * @param to name of the host it leads to
   */
  Duration roundTrip(String from, String to);
}
