package dev.onehop.testbed;

import dev.onehop.testbed.internal.cluster.Access;
import dev.onehop.testbed.internal.cluster.ReplicaSet;
import dev.onehop.testbed.internal.cluster.Server;
import dev.onehop.testbed.internal.link.Callers;
import dev.onehop.testbed.internal.link.Peer;
import dev.onehop.testbed.internal.process.RunningServer;
import dev.onehop.testbed.topology.Topology;
import java.net.InetAddress;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What a testbed's servers run on: processes of this machine, containers, or servers that are there
 * already. {@link #close} gives back all that it has taken, except the servers themselves, which
 * the caller of {@link #launch} ends before.
 */
interface Platform extends AutoCloseable {
  /** The topology, its hosts with the addresses that they have here. */
  Topology topology();

  /** Every server, and where it listens. */
  ClusterPlan plan();

  /**
   * What kind of router there is, and the versions as far as they are known. Asked for when the
   * replica sets have primaries and the routers were launched.
   */
  Versions versions();

  /**
   * Addresses that connections between the servers come from, as links see them; there are more
   * from {@link #launch}. Any other that connects is the client.
   */
  Map<InetAddress, Peer> peers();

  /** How the testbed itself is let in by config servers and shards; by all, unless they say. */
  default Access access() {
    return Access.OPEN;
  }

  /** How it is let in by routers. */
  default Access routerAccess() {
    return access();
  }

  /**
   * Whether the servers' data is that of a cluster formed earlier, which they are to be once they
   * have started.
   */
  default boolean isFormed() {
    return false;
  }

  /** Whether {@link #keepFormed} would keep anything. */
  default boolean keepsFormed() {
    return false;
  }

  /** Keeps the data for later starts. No server writes meanwhile. */
  default void keepFormed() {}

  /** Forgets what was kept: servers did not start with it. */
  default void forgetFormed() {}

  /** All replica sets have primaries; no router and no shard is part of the cluster yet. */
  default void initiated(ReplicaSet configServers) {}

  /** What the cluster's feature compatibility version has to be set to; null to leave it. */
  default @Nullable String featureCompatibilityVersion() {
    return null;
  }

  /**
   * Starts a server.
   *
   * @param callers to be told which host the server's connections come from
   * @throws TestbedException if it cannot be started
   */
  RunningServer launch(Server server, Callers callers);

  /**
   * The cluster can be used.
   *
   * @param url where; empty if it has no routers
   */
  void started(String url);

  @Override
  void close();

  /**
   * What the servers are.
   *
   * @param mongod version of config servers and shards; null to ask them
   * @param router what routes
   * @param mongos version of the mongos; null if there is none, or to ask it
   */
  record Versions(@Nullable String mongod, ServerInfo.RouterKind router, @Nullable String mongos) {
    boolean isStandIn() {
      return router == ServerInfo.RouterKind.STAND_IN;
    }
  }
}
