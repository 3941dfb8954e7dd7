package dev.onehop.shards.cluster;

import dev.onehop.core.table.RoutingTable;
import dev.onehop.shards.catalog.RoutingCatalog;
import dev.onehop.shards.catalog.RoutingCatalog.RefreshListener;
import dev.onehop.wire.connection.Connections;
import dev.onehop.wire.connection.WirePool;
import dev.onehop.wire.watch.ServerSet;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * A sharded cluster, or a replica set, whose servers are addressed without a router: connections to
 * them, who watches them, and their metadata. All of them gossip one cluster time.
 *
 * <p>Thread-safe.
 */
public class Cluster implements AutoCloseable {
  private final Connections connections;
  private final ClusterClock clock = new ClusterClock();
  private final ReplicaSet seeds;
  private final ConfigServer config;
  private final ShardDirectory directory;
  private final RoutingCatalog catalog;

  /**
   * @param seeds the config servers, mongoses or members of a replica set; taken over
   * @param watcher watches the shards' servers
   * @param connections to all of them; taken over
   * @param refreshes told of every refresh of a routing table
   */
  protected Cluster(
      ServerSet seeds,
      ServerSet.Factory watcher,
      Connections connections,
      RefreshListener refreshes) {
    this.connections = connections;
    WirePool pool = connections.onEventLoops();
    this.seeds = new ReplicaSet(seeds, pool, clock);
    this.config = new ConfigServer(this.seeds, clock);
    this.directory = new ShardDirectory(config, watcher, pool, clock);
    this.catalog = RoutingCatalog.forShards(config, listener(refreshes));
  }

  private RefreshListener listener(RefreshListener other) {
    return new RefreshListener() {
      @Override
      public void refreshed(
          String namespace,
          @Nullable RoutingTable table,
          Duration took,
          @Nullable Throwable failure) {
        other.refreshed(namespace, table, took, failure);
      }

      @Override
      public void forgotten(String namespace) {
        Cluster.this.forgotten(namespace);
        other.forgotten(namespace);
      }
    };
  }

  /** Takes note that a collection was dropped or is not used any more. */
  protected void forgotten(String namespace) {}

  /** All connections to the servers. */
  public final Connections connections() {
    return connections;
  }

  /** The latest cluster time that a server has said. */
  public final ClusterClock clock() {
    return clock;
  }

  /** The servers by which the others are found. */
  public final ReplicaSet seeds() {
    return seeds;
  }

  /** Reads the metadata over the seeds. */
  public final ConfigServer config() {
    return config;
  }

  /** The shards. */
  public final ShardDirectory directory() {
    return directory;
  }

  /** The routing tables. */
  public final RoutingCatalog catalog() {
    return catalog;
  }

  @Override
  public void close() {
    directory.close();
    seeds.servers().close();
    connections.close();
  }
}
