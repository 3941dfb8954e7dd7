package dev.onehop.testbed.internal.link;

import dev.onehop.testbed.evidence.Traffic;

/**
 * One end of a connection.
 *
 * @param host name of its host
 * @param party its kind
 */
public record Peer(String host, Traffic.Party party) {
  /** An application on a host. */
  public static Peer client(String host) {
    return new Peer(host, Traffic.Party.CLIENT);
  }
}
