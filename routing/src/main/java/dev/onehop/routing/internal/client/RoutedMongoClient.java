package dev.onehop.routing.internal.client;

import com.mongodb.MongoClientSettings;
import com.mongodb.MongoDriverInformation;
import com.mongodb.connection.ClusterDescription;
import com.mongodb.reactivestreams.client.MongoClient;
import com.mongodb.reactivestreams.client.MongoClients;
import dev.onehop.routing.internal.affinity.Affinity;
import dev.onehop.routing.internal.affinity.ShardClients;
import dev.onehop.routing.internal.catalog.RoutingCatalog;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Duration;

/**
 * The routed client: the official client on the nearest mongos, a client per shard beside it, and
 * what decides between them.
 *
 * <p>Thread-safe, as the official client is.
 */
public final class RoutedMongoClient extends RoutedCluster implements MongoClient {
  private final MongoClient nearest;
  private final ShardClients shardClients;
  private final ClusterWatch watch;
  private final Runnable release;

  /**
   * Connects in the background, like the official client.
   *
   * @param settings of the application, used for every client
   * @param refreshInterval how often routing tables and affinity are read again
   * @param release stops what was started for this client, once it is closed
   */
  public static RoutedMongoClient create(
      MongoClientSettings settings,
      MongoDriverInformation driverInformation,
      MeterRegistry registry,
      Duration refreshInterval,
      Runnable release) {
    MongoClient nearest = MongoClients.create(settings, driverInformation);
    RoutingMetrics metrics = new RoutingMetrics(registry);
    DriverConfigReader config = new DriverConfigReader(nearest);
    RoutingCatalog catalog = new RoutingCatalog(config, metrics);
    ShardClients shardClients = new ShardClients(settings, nearest);
    ClusterWatch watch = new ClusterWatch(config, catalog, shardClients, metrics, refreshInterval);
    OperationRouter router =
        new OperationRouter(
            nearest,
            settings.getRetryWrites(),
            catalog,
            shardClients,
            metrics,
            watch.affinityReady());
    return new RoutedMongoClient(nearest, router, shardClients, watch, release);
  }

  private RoutedMongoClient(
      MongoClient nearest,
      OperationRouter router,
      ShardClients shardClients,
      ClusterWatch watch,
      Runnable release) {
    super(nearest, router);
    this.nearest = nearest;
    this.shardClients = shardClients;
    this.watch = watch;
    this.release = release;
  }

  /** Which mongoses stand beside which shard, as it was read last. */
  public Affinity affinity() {
    return watch.affinity();
  }

  @Override
  public void close() {
    watch.close();
    shardClients.close();
    nearest.close();
    release.run();
  }

  /** The cluster as the client on the nearest mongos sees it. */
  @Override
  public ClusterDescription getClusterDescription() {
    return nearest.getClusterDescription();
  }

  @Override
  public void appendMetadata(MongoDriverInformation mongoDriverInformation) {
    nearest.appendMetadata(mongoDriverInformation);
  }
}
