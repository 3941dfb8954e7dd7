package dev.onehop.routing.internal.client;

import com.mongodb.MongoClientSettings;
import com.mongodb.MongoDriverInformation;
import com.mongodb.connection.ClusterDescription;
import com.mongodb.connection.ClusterSettings;
import com.mongodb.reactivestreams.client.MongoClient;
import dev.onehop.core.table.RoutingTable;
import dev.onehop.routing.internal.affinity.Affinity;
import dev.onehop.routing.internal.affinity.ClusterPin;
import dev.onehop.routing.internal.affinity.ClusterWatch;
import dev.onehop.routing.internal.affinity.Connector;
import dev.onehop.routing.internal.affinity.PrimaryWatch;
import dev.onehop.routing.internal.affinity.RouterProbe;
import dev.onehop.routing.internal.affinity.ShardClients;
import dev.onehop.routing.internal.catalog.RoutingCatalog;
import dev.onehop.routing.internal.catalog.RoutingCatalog.RefreshListener;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

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
   * @param asked the application's settings, used for every client
   * @param connect makes official clients
   * @param release stops what was started for this client, once it is closed
   */
  public static RoutedMongoClient create(
      MongoClientSettings asked, RoutingSettings routing, Connector connect, Runnable release) {
    Observations observations = new Observations(routing.observationRegistry());
    MongoClientSettings settings = observations.listening(HiddenCommands.hiding(asked));
    RouterProbe probe = new RouterProbe(asked, connect);
    ClusterSettings cluster = settings.getClusterSettings();
    ClusterPin pin =
        new ClusterPin(
            probe::identify, cluster.getSrvHost() == null ? cluster.getHosts() : List.of());
    ShardClients shardClients = new ShardClients(settings, pin, connect);
    MongoClient nearest = shardClients.nearest();
    RoutingMetrics metrics = new RoutingMetrics(routing.meterRegistry());
    DriverConfigReader config =
        new DriverConfigReader(
            routing.directConnection() ? nearest : shardClients.internal(),
            routing.directConnection());
    AtomicReference<ClusterWatch> watching = new AtomicReference<>();
    RefreshListener refreshes =
        new RefreshListener() {
          @Override
          public void refreshed(
              String namespace,
              @Nullable RoutingTable table,
              Duration took,
              @Nullable Throwable failure) {
            metrics.refreshed(namespace, table, took, failure);
            ClusterWatch watch = watching.get();
            if (table != null && watch != null) {
              watch.tableLoaded(table);
            }
          }

          @Override
          public void forgotten(String namespace) {
            metrics.forgotten(namespace);
          }
        };
    RoutingCatalog catalog = new RoutingCatalog(config, refreshes);
    metrics.agesFrom(catalog::age);
    ClusterWatch watch =
        new ClusterWatch(
            config,
            catalog,
            shardClients,
            metrics::affinity,
            routing.watching(),
            pin,
            probe,
            changed -> new PrimaryWatch(asked, connect, routing.hostMapping(), changed));
    watching.set(watch);
    OperationRouter router =
        new OperationRouter(
            nearest,
            settings.getRetryWrites(),
            catalog,
            shardClients,
            metrics,
            observations,
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
