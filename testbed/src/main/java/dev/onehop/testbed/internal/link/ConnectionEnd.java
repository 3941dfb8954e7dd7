package dev.onehop.testbed.internal.link;

import dev.onehop.testbed.evidence.Traffic;

/**
 * One end of a connection.
 *
 * @param host the name of the host of this end
 * @param party the kind of this end
 */
public record ConnectionEnd(String host, Traffic.Party party) {
  /** An application on a host. */
  public static ConnectionEnd client(String host) {
    return new ConnectionEnd(host, Traffic.Party.CLIENT);
  }
}
