package dev.onehop.shards.command;

import dev.onehop.shards.cluster.Cluster;
import dev.onehop.shards.cluster.DriverRetries;
import dev.onehop.shards.cluster.Versions;
import dev.onehop.shards.cursor.Cursors;
import dev.onehop.wire.LateErrors;
import dev.onehop.wire.connection.Connections;
import dev.onehop.wire.watch.ServerSet;
import java.time.Duration;
import java.util.Collection;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.util.retry.Retry;

/**
 * The state of a router: the cluster's metadata, which is refreshed at an interval, and the
 * connections to its servers.
 *
 * <p>Thread-safe.
 */
public final class ClusterState extends Cluster {
  private static final Duration REREAD_TIMEOUT = Duration.ofSeconds(10);

  /** The number of refreshes after which the table of an unused collection is dropped. */
  private static final int ROUNDS_UNUSED = 30;

  private final Cursors cursors = new Cursors();
  private final DefaultConcerns concerns = new DefaultConcerns();
  private final ShardClient shards;
  private final ClusterCheck clusterCheck;
  private final OneShardForwarding forwarding;
  private final Disposable refreshing;
  private final @Nullable DriverRetries driver;

  /**
   * Starts to read the cluster's metadata.
   *
   * @param seeds the cluster's config servers or mongoses; closed with this object
   * @param watcher watches the shards' servers
   * @param connections the connections to all servers; closed with this object
   * @param refreshes the interval and the listener of refreshes
   * @param versions adds versions to commands
   * @param driver the retries by the client's driver; null if there is no driver
   * @param viewsAreRefused whether views have no routing table, because a mongos executes commands
   *     on them
   */
  public ClusterState(
      ServerSet seeds,
      ServerSet.Factory watcher,
      Connections connections,
      Refreshes refreshes,
      Versions versions,
      @Nullable DriverRetries driver,
      boolean viewsAreRefused) {
    super(seeds, watcher, connections, refreshes.listener(), viewsAreRefused);
    this.driver = driver;
    this.clusterCheck = new ClusterCheck(seeds(), directory());
    this.shards = new ShardClient(catalog(), directory(), clusterCheck, concerns, versions, null);
    this.forwarding =
        new OneShardForwarding(
            catalog(),
            directory(),
            clusterCheck,
            concerns,
            cursors,
            connections.onEventLoops(),
            clock(),
            versions,
            driver);
    this.refreshing =
        clusterCheck
            .done()
            .thenMany(Flux.interval(Duration.ZERO, refreshes.every()))
            .onBackpressureDrop()
            .doOnNext(this::forgetUnused)
            .concatMap(tick -> concerns.refresh(config()).then(rereadShards()))
            .retryWhen(Retry.fixedDelay(Long.MAX_VALUE, Duration.ofSeconds(1)))
            .subscribe(null, null, null, LateErrors.LOGGED);
  }

  @Override
  protected void forgotten(String namespace) {
    forwarding.forget(namespace);
  }

  private void forgetUnused(long tick) {
    if (tick % ROUNDS_UNUSED == ROUNDS_UNUSED - 1) {
      catalog().forgetUnused();
    }
  }

  // Reads the shards again, because shards may have been added or removed.
  private Mono<Void> rereadShards() {
    return directory().all().timeout(REREAD_TIMEOUT).then().onErrorComplete();
  }

  /** The clients' open cursors. */
  public Cursors cursors() {
    return cursors;
  }

  /** Drops a collection's routing table. The next command loads it again. */
  public void forget(String namespace) {
    catalog().forget(namespace);
  }

  /** The namespaces with a loaded routing table. */
  public Collection<String> namespaces() {
    return catalog().namespaces();
  }

  /** Sends versioned commands to the shards. */
  public ShardClient shards() {
    return shards;
  }

  /** The retries by the client's driver; null if there is no driver. */
  @Nullable DriverRetries driver() {
    return driver;
  }

  public ClusterCheck clusterCheck() {
    return clusterCheck;
  }

  OneShardForwarding forwarding() {
    return forwarding;
  }

  @Override
  public void close() {
    refreshing.dispose();
    super.close();
  }
}
