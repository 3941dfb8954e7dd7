package dev.onehop.testbed.internal.cluster;

import dev.onehop.testbed.evidence.Traffic;
import dev.onehop.testbed.internal.link.ConnectionEnd;
import dev.onehop.testbed.topology.Host;
import java.net.InetSocketAddress;

/**
 * A server of the cluster.
 *
 * @param name the server's name in messages, such as {@code shard-or/or1}
 * @param role the server's role in the cluster
 * @param replicaSet the server's replica set; empty for a mongos
 * @param host the host on which the server runs
 * @param port the advertised port
 * @param listenAddress the address at which the process listens, without delay; it differs from the
 *     advertised address only if a link listens at that address
 */
public record Server(
    String name,
    Role role,
    String replicaSet,
    Host host,
    int port,
    InetSocketAddress listenAddress) {

  /** The role of a server. */
  public enum Role {
    CONFIG,
    SHARD,
    ROUTER
  }

  /** Returns the server as one end of a connection. */
  public ConnectionEnd peer() {
    return new ConnectionEnd(
        host.name(),
        switch (role) {
          case CONFIG -> Traffic.Party.CONFIG;
          case SHARD -> Traffic.Party.SHARD;
          case ROUTER -> Traffic.Party.ROUTER;
        });
  }

  /** The advertised address: {@code 127.x.y.z:port}. */
  public String advertised() {
    return host.address() + ":" + port;
  }

  public InetSocketAddress advertisedAddress() {
    return new InetSocketAddress(host.address(), port);
  }

  /** Returns the same server with another listening address. */
  public Server listeningAt(InetSocketAddress address) {
    return new Server(name, role, replicaSet, host, port, address);
  }

  /** Whether a link connects the advertised address with the process. */
  public boolean isBehindLink() {
    return !listenAddress.equals(advertisedAddress());
  }
}
