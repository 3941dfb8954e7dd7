package dev.onehop.testbed.internal.link;

import dev.onehop.testbed.evidence.Traffic;

/**
 * One end of a connection.
 *
 * @param host name of its host
 * @param party its kind
 */
public record ConnectionEnd(String host, Traffic.Party party) {
  /** An application on a host. */
  public static ConnectionEnd client(String host) {
    return new ConnectionEnd(host, Traffic.Party.CLIENT);
  }
}
