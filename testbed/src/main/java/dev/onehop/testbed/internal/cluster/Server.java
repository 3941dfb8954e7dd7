package dev.onehop.testbed.internal.cluster;

import dev.onehop.testbed.evidence.Traffic;
import dev.onehop.testbed.internal.link.Peer;
import dev.onehop.testbed.topology.Host;
import java.net.InetSocketAddress;

/**
 * A server of the cluster.
 *
 * @param name what to call it in messages, for example {@code shard-or/or1}
 * @param role what it is
 * @param replicaSet its replica set; for a mongos the empty string
 * @param host where it runs
 * @param port the port it says it has
 * @param listenAddress where the process really listens, without any delay; the advertised address
 *     unless a link listens there
 */
public record Server(
    String name,
    Role role,
    String replicaSet,
    Host host,
    int port,
    InetSocketAddress listenAddress) {

  /** What a server is. */
  public enum Role {
    CONFIG,
    SHARD,
    ROUTER
  }

  /** What links call it. */
  public Peer peer() {
    return new Peer(
        host.name(),
        switch (role) {
          case CONFIG -> Traffic.Party.CONFIG;
          case SHARD -> Traffic.Party.SHARD;
          case ROUTER -> Traffic.Party.ROUTER;
        });
  }

  /** Where it says it is: {@code 127.x.y.z:port}. */
  public String advertised() {
    return host.address() + ":" + port;
  }

  public InetSocketAddress advertisedAddress() {
    return new InetSocketAddress(host.address(), port);
  }

  /** The same server, its process listening elsewhere. */
  public Server listeningAt(InetSocketAddress address) {
    return new Server(name, role, replicaSet, host, port, address);
  }

  /** Whether a link stands between the advertised address and the process. */
  public boolean isBehindLink() {
    return !listenAddress.equals(advertisedAddress());
  }
}
