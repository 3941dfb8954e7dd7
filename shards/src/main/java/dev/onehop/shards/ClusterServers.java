package dev.onehop.shards;

import com.mongodb.MongoClientSettings;
import com.mongodb.UnixServerAddress;
import com.mongodb.connection.ClusterConnectionMode;
import dev.onehop.core.table.RoutingTable;
import dev.onehop.shards.catalog.RoutingCatalog;
import dev.onehop.shards.catalog.UnknownNamespaceException;
import dev.onehop.shards.cluster.Cluster;
import dev.onehop.shards.cluster.ReplicaSet;
import dev.onehop.wire.ServerAddressName;
import dev.onehop.wire.channel.EventLoops;
import dev.onehop.wire.driver.Carrier;
import dev.onehop.wire.driver.Reach;
import dev.onehop.wire.message.CommandFailure;
import dev.onehop.wire.watch.PreferredZones;
import dev.onehop.wire.watch.Servers;
import io.netty.channel.EventLoopGroup;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * Connections to the servers of a cluster or of a replica set, for modules that send commands to
 * the shards themselves. No router is involved. All servers gossip one cluster time.
 *
 * <p>Thread-safe.
 */
public final class ClusterServers extends Cluster {
  private final EventLoopGroup group;
  private final Reach reach;

  private ClusterServers(
      EventLoopGroup group, Reach reach, @Nullable UnaryOperator<ServerAddressName> mapping) {
    super(
        Servers.of(reach.watching(), mapping, PreferredZones.NONE, reach.connections()),
        Servers.replicaSets(reach.watching(), mapping, PreferredZones.NONE, reach.connections()),
        reach.connections(),
        RoutingCatalog.RefreshListener.NONE,
        false);
    this.group = group;
    this.reach = reach;
  }

  /**
   * Connects in the background.
   *
   * @param settings the application's settings; TLS, credentials, compressors and timeouts apply to
   *     every server
   * @param mapping maps {@code host:port} in the cluster's metadata to the name that the
   *     application uses; null if the names are the same
   * @param threads the number of threads for the connections
   * @throws IllegalArgumentException if the settings have a transport, a load balancer or Unix
   *     domain sockets
   */
  public static ClusterServers connect(
      MongoClientSettings settings, @Nullable UnaryOperator<String> mapping, int threads) {
    if (settings.getTransportSettings() != null) {
      throw new IllegalArgumentException(
          "connections to shards always use OneHop's transport:"
              + " remove the transport settings");
    }
    if (settings.getClusterSettings().getMode() == ClusterConnectionMode.LOAD_BALANCED) {
      throw new IllegalArgumentException(
          "a load balancer is not supported here: OneHop connects to the addresses of the shards");
    }
    if (settings.getClusterSettings().getHosts().stream()
        .anyMatch(host -> host instanceof UnixServerAddress)) {
      throw new IllegalArgumentException("Unix domain sockets are not supported here");
    }
    EventLoopGroup group = EventLoops.newGroup("onehop-shards", threads);
    try {
      return new ClusterServers(
          group,
          Reach.of(settings, new Carrier(group, null), () -> {}),
          mapping == null ? null : name -> ServerAddressName.parse(mapping.apply(name.toString())));
    } catch (RuntimeException | Error failure) {
      EventLoops.shutDown(group);
      throw failure;
    }
  }

  /**
   * The routing table of a collection. The table is read at the first call, and again if a shard
   * has refused commands with it.
   *
   * @param namespace database and collection; for a time series its bucket collection
   * @param refused the table that a shard has refused as stale; null if no table was refused
   * @return the table; a {@link CommandFailure} "ns not found" if the cluster has no such database
   */
  public Mono<RoutingTable> table(String namespace, @Nullable RoutingTable refused) {
    Mono<RoutingTable> table =
        refused == null ? catalog().table(namespace) : catalog().refresh(namespace, refused);
    return table.onErrorMap(
        UnknownNamespaceException.class, e -> CommandFailure.notFound(namespace));
  }

  /**
   * Connects to a further replica set, which is watched until this object is closed.
   *
   * @param connectionString {@code name/host:port,...} as in the cluster's metadata
   */
  public ReplicaSet replicaSet(String connectionString) {
    return directory().further(connectionString);
  }

  /** Closes all connections. Replies to commands in flight still arrive. */
  @Override
  public void close() {
    super.close();
    reach.release().run();
    EventLoops.shutDown(group);
  }
}
