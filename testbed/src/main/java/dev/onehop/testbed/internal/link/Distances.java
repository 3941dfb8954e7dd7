package dev.onehop.testbed.internal.link;

import java.time.Duration;

/** The distances between hosts, as round trips. Implementations MUST be thread-safe. */
@FunctionalInterface
public interface Distances {
  /**
   * The round trip between two hosts.
   *
   * @param from the name of the host that opened the connection
   * @param to the name of the host to which the connection leads
   */
  Duration roundTrip(String from, String to);
}
