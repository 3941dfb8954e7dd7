package dev.onehop.shards.command;

import dev.onehop.core.table.RoutingTable;
import dev.onehop.shards.catalog.RoutingCatalog;
import dev.onehop.shards.cluster.ClusterClock;
import dev.onehop.shards.cluster.ConfigServer;
import dev.onehop.shards.cluster.DriverRetries;
import dev.onehop.shards.cluster.ReplicaSet;
import dev.onehop.shards.cluster.ShardDirectory;
import dev.onehop.shards.cluster.Versions;
import dev.onehop.shards.cursor.Cursors;
import dev.onehop.wire.LateErrors;
import dev.onehop.wire.connection.Connections;
import dev.onehop.wire.connection.WirePool;
import dev.onehop.wire.watch.ServerSet;
import java.time.Duration;
import java.util.Collection;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.util.retry.Retry;

/**
 * What a router knows of its cluster, kept fresh, and what it reaches the servers by.
 *
 * <p>Thread-safe.
 */
public final class ClusterState implements AutoCloseable {
  private static final Duration REREAD_TIMEOUT = Duration.ofSeconds(10);

  /** A collection that is not used is forgotten after this many rounds. */
  private static final int ROUNDS_UNUSED = 30;

  private final ServerSet seeds;
  private final Connections connections;
  private final ClusterClock clock = new ClusterClock();
  private final Cursors cursors = new Cursors();
  private final DefaultConcerns concerns = new DefaultConcerns();
  private final ReplicaSet seedServers;
  private final ConfigServer config;
  private final RoutingCatalog catalog;
  private final ShardDirectory directory;
  private final Transactions transactions;
  private final ShardClient shards;
  private final StartCheck startCheck;
  private final OneShardForwarding forwarding;
  private final Disposable refreshing;
  private final @Nullable DriverRetries driver;

  /**
   * Begins to read the cluster's metadata.
   *
   * @param seeds the cluster's config servers, or mongoses; taken over
   * @param watcher watches the shards' servers
   * @param connections to all of them; taken over
   * @param driver what the driver above sends again by itself; null if there is no driver
   */
  public ClusterState(
      ServerSet seeds,
      ServerSet.Factory watcher,
      Connections connections,
      Refreshes refreshes,
      Versions versions,
      @Nullable DriverRetries driver) {
    this.seeds = seeds;
    this.driver = driver;
    this.connections = connections;
    WirePool pool = connections.onEventLoops();
    this.seedServers = new ReplicaSet(seeds, pool, clock);
    this.config = new ConfigServer(seedServers, clock);
    this.catalog = RoutingCatalog.forShards(config, forgetting(refreshes.listener()));
    this.directory = new ShardDirectory(config, watcher, pool, clock);
    this.transactions = new Transactions(directory, clock);
    this.startCheck = new StartCheck(seedServers, directory);
    this.shards = new ShardClient(catalog, directory, startCheck, concerns, versions, transactions);
    this.forwarding =
        new OneShardForwarding(
            catalog, directory, startCheck, concerns, cursors, pool, clock, versions, driver);
    this.refreshing =
        startCheck
            .done()
            .thenMany(Flux.interval(Duration.ZERO, refreshes.every()))
            .onBackpressureDrop()
            .doOnNext(this::forgetUnused)
            .concatMap(tick -> concerns.refresh(config).then(rereadShards()))
            .retryWhen(Retry.fixedDelay(Long.MAX_VALUE, Duration.ofSeconds(1)))
            .subscribe(null, null, null, LateErrors.LOGGED);
  }

  private RoutingCatalog.RefreshListener forgetting(RoutingCatalog.RefreshListener listener) {
    return new RoutingCatalog.RefreshListener() {
      @Override
      public void refreshed(
          String namespace,
          @Nullable RoutingTable table,
          Duration took,
          @Nullable Throwable failure) {
        listener.refreshed(namespace, table, took, failure);
      }

      @Override
      public void forgotten(String namespace) {
        forwarding.forget(namespace);
        listener.forgotten(namespace);
      }
    };
  }

  private void forgetUnused(long tick) {
    if (tick % ROUNDS_UNUSED == ROUNDS_UNUSED - 1) {
      catalog.forgetUnused();
    }
  }

  // Shards come and go.
  private Mono<Void> rereadShards() {
    return directory.all().timeout(REREAD_TIMEOUT).then().onErrorComplete();
  }

  /** The latest cluster time that a server or a client has said. */
  public ClusterClock clock() {
    return clock;
  }

  /** The clients' open cursors. */
  public Cursors cursors() {
    return cursors;
  }

  /** Reads the metadata. */
  public ConfigServer config() {
    return config;
  }

  /** Forgets a collection's routing table. It is read again for the next command. */
  public void forget(String namespace) {
    catalog.forget(namespace);
  }

  /** The collections whose routing tables are known. */
  public Collection<String> namespaces() {
    return catalog.namespaces();
  }

  public RoutingCatalog catalog() {
    return catalog;
  }

  /** The shards. */
  public ShardDirectory directory() {
    return directory;
  }

  /** The transactions at the shards. */
  public Transactions transactions() {
    return transactions;
  }

  /** Sends versioned commands to the shards. */
  public ShardClient shards() {
    return shards;
  }

  /** What the driver above sends again by itself; null if there is no driver. */
  @Nullable DriverRetries driver() {
    return driver;
  }

  public ReplicaSet seedServers() {
    return seedServers;
  }

  Connections connections() {
    return connections;
  }

  public StartCheck startCheck() {
    return startCheck;
  }

  OneShardForwarding forwarding() {
    return forwarding;
  }

  @Override
  public void close() {
    refreshing.dispose();
    directory.close();
    seeds.close();
    connections.close();
  }
}
