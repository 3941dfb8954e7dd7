package dev.onehop.shards;

import com.mongodb.MongoClientSettings;
import com.mongodb.UnixServerAddress;
import com.mongodb.connection.ClusterConnectionMode;
import dev.onehop.core.table.RoutingTable;
import dev.onehop.shards.catalog.RoutingCatalog;
import dev.onehop.shards.catalog.UnknownNamespaceException;
import dev.onehop.shards.cluster.ClusterClock;
import dev.onehop.shards.cluster.ConfigServer;
import dev.onehop.shards.cluster.ReplicaSet;
import dev.onehop.shards.cluster.ShardDirectory;
import dev.onehop.wire.ServerAddressName;
import dev.onehop.wire.channel.EventLoops;
import dev.onehop.wire.connection.Connections;
import dev.onehop.wire.connection.WireSettings;
import dev.onehop.wire.driver.Carrier;
import dev.onehop.wire.driver.DriverSockets;
import dev.onehop.wire.driver.ProxiedChannels;
import dev.onehop.wire.message.CommandFailure;
import dev.onehop.wire.watch.PreferredZones;
import dev.onehop.wire.watch.ServerSet;
import dev.onehop.wire.watch.Servers;
import io.netty.channel.EventLoopGroup;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * Connections to the servers of a cluster, or of a replica set, as direct mode has them, without a
 * router: for what addresses shards itself. All of them gossip one cluster time.
 *
 * <p>Thread-safe.
 */
public final class ClusterServers implements AutoCloseable {
  private final EventLoopGroup group;
  private final ProxiedChannels.Watching watching;
  private final Connections connections;
  private final ServerSet seeds;
  private final ServerSet.Factory watcher;
  private final List<ServerSet> others = new ArrayList<>(); // guarded by itself
  private boolean closed; // guarded by others
  private final ClusterClock clock = new ClusterClock();
  private final ReplicaSet seedServers;
  private final ConfigServer config;
  private final ShardDirectory shards;
  private final RoutingCatalog catalog;

  private ClusterServers(
      EventLoopGroup group,
      WireSettings wire,
      ProxiedChannels.Watching watching,
      @Nullable UnaryOperator<ServerAddressName> mapping) {
    this.group = group;
    this.watching = watching;
    this.connections = new Connections(group, wire);
    this.seeds = Servers.of(watching.settings(), mapping, PreferredZones.NONE, connections);
    this.seedServers = new ReplicaSet(seeds, connections.onEventLoops(), clock);
    this.config = new ConfigServer(seedServers, clock);
    this.watcher =
        Servers.replicaSets(watching.settings(), mapping, PreferredZones.NONE, connections);
    this.shards = new ShardDirectory(config, watcher, connections.onEventLoops(), clock);
    this.catalog = RoutingCatalog.forShards(config, RoutingCatalog.RefreshListener.NONE);
  }

  /**
   * Connects in the background.
   *
   * @param settings of the application: TLS, credentials, compressors and timeouts hold for every
   *     server
   * @param mapping from {@code host:port} in the cluster's metadata to the name that the
   *     application uses; null if these are the same
   * @param threads how many threads the connections have
   * @throws IllegalArgumentException if the settings have a transport, a load balancer or Unix
   *     domain sockets
   */
  public static ClusterServers connect(
      MongoClientSettings settings, @Nullable UnaryOperator<String> mapping, int threads) {
    if (settings.getTransportSettings() != null) {
      throw new IllegalArgumentException("connections to shards bring a transport of their own");
    }
    if (settings.getClusterSettings().getMode() == ClusterConnectionMode.LOAD_BALANCED) {
      throw new IllegalArgumentException(
          "shards are reached by their own addresses, not by a load balancer");
    }
    if (settings.getClusterSettings().getHosts().stream()
        .anyMatch(host -> host instanceof UnixServerAddress)) {
      throw new IllegalArgumentException("Unix domain sockets are not supported here");
    }
    EventLoopGroup group = EventLoops.newGroup("onehop-shards", threads);
    try {
      Carrier carrier = new Carrier(group, null);
      WireSettings wire = DriverSockets.of(settings, carrier);
      return new ClusterServers(
          group,
          wire,
          ProxiedChannels.watching(settings, wire.sockets(), carrier.transport()),
          mapping == null ? null : name -> ServerAddressName.parse(mapping.apply(name.toString())));
    } catch (RuntimeException | Error failure) {
      EventLoops.shutDown(group);
      throw failure;
    }
  }

  /** The servers that the settings name: mongoses, config servers or a replica set. */
  public ReplicaSet seeds() {
    return seedServers;
  }

  /** Reads the metadata over the seeds. */
  public ConfigServer config() {
    return config;
  }

  /** The shards. */
  public ShardDirectory shards() {
    return shards;
  }

  /**
   * The routing table of a collection, which is read once and again after a shard has refused it.
   *
   * @param namespace database and collection; of a time series its bucket collection
   * @param refused the table that a shard has refused as stale; null if any will do
   * @return the table; a {@link CommandFailure} "ns not found" if the cluster has no such database
   */
  public Mono<RoutingTable> table(String namespace, @Nullable RoutingTable refused) {
    Mono<RoutingTable> table =
        refused == null ? catalog.table(namespace) : catalog.refresh(namespace, refused);
    return table.onErrorMap(
        UnknownNamespaceException.class, e -> CommandFailure.notFound(namespace));
  }

  /**
   * A further replica set, watched until this is closed.
   *
   * @param connectionString {@code name/host:port,...} as the cluster's metadata has it
   */
  public ReplicaSet replicaSet(String connectionString) {
    synchronized (others) {
      if (closed) {
        // Its watching would never end.
        throw new IllegalStateException("the client is closed");
      }
      ServerSet servers = watcher.watch(connectionString);
      others.add(servers);
      return new ReplicaSet(servers, connections.onEventLoops(), clock);
    }
  }

  /** The latest cluster time that a server has said. */
  public ClusterClock clock() {
    return clock;
  }

  /** Ends all connections. Commands that are under way are still answered. */
  @Override
  public void close() {
    shards.close();
    synchronized (others) {
      closed = true;
      others.forEach(ServerSet::close);
    }
    seeds.close();
    connections.close();
    watching.release().run();
    EventLoops.shutDown(group);
  }
}
