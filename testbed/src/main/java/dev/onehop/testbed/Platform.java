package dev.onehop.testbed;

import dev.onehop.testbed.internal.cluster.Credentials;
import dev.onehop.testbed.internal.cluster.ReplicaSet;
import dev.onehop.testbed.internal.cluster.Server;
import dev.onehop.testbed.internal.link.Callers;
import dev.onehop.testbed.internal.link.ConnectionEnd;
import dev.onehop.testbed.internal.process.RunningServer;
import dev.onehop.testbed.topology.Topology;
import java.net.InetAddress;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The environment of a testbed's servers: processes of this machine, containers, or existing
 * servers. {@link #close} releases all resources of the platform, except the servers. The caller of
 * {@link #launch} ends the servers before it calls {@link #close}.
 */
interface Platform extends AutoCloseable {
  /** The topology, with the addresses of its hosts on this platform. */
  Topology topology();

  /** The servers of the topology with their addresses. */
  ClusterPlan plan();

  /**
   * Returns the kind of router, and the versions if they are known. The caller must call it only
   * after the replica sets have primaries and the routers are launched.
   */
  Versions versions();

  /**
   * The addresses from which the servers open connections, as links see them; {@link #launch} adds
   * more. Connections from all other addresses count as the client's.
   */
  Map<InetAddress, ConnectionEnd> peers();

  /** The testbed's credentials for config servers and shards; none by default. */
  default Credentials access() {
    return Credentials.OPEN;
  }

  /** The testbed's credentials for routers. */
  default Credentials routerAccess() {
    return access();
  }

  /** Whether the servers start with the data of a cluster that was formed earlier. */
  default boolean isFormed() {
    return false;
  }

  /** Whether {@link #keepFormed} keeps data. */
  default boolean keepsFormed() {
    return false;
  }

  /** Keeps the data for later starts. The caller prevents all writes during the call. */
  default void keepFormed() {}

  /** Deletes the kept data. The caller does so after servers failed to start with this data. */
  default void forgetFormed() {}

  /**
   * Called when all replica sets have primaries, before any router or shard is part of the cluster.
   */
  default void initiated(ReplicaSet configServers) {}

  /** The feature compatibility version to set for the cluster; null to leave it unchanged. */
  default @Nullable String featureCompatibilityVersion() {
    return null;
  }

  /**
   * Starts a server.
   *
   * @param callers finds, for the links, the process that opened a connection, and its host. A
   *     platform that starts the server as a local process registers this process here
   * @throws TestbedException if the server cannot be started
   */
  RunningServer launch(Server server, Callers callers);

  /**
   * Called when the cluster is ready.
   *
   * @param url the URL for applications; empty if the cluster has no routers
   */
  void started(String url);

  @Override
  void close();

  /**
   * The versions of the servers.
   *
   * @param mongod the version of config servers and shards; null if the caller must query it
   * @param router the kind of router
   * @param mongos the version of the mongos; null if there is no mongos, or the caller must query
   *     it
   */
  record Versions(@Nullable String mongod, ServerInfo.RouterKind router, @Nullable String mongos) {
    boolean isStandIn() {
      return router == ServerInfo.RouterKind.STAND_IN;
    }
  }
}
