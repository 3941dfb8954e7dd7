package dev.onehop.routing.internal.targeted;

import com.mongodb.MongoClientSettings;
import com.mongodb.connection.ClusterSettings;
import dev.onehop.core.table.RoutingTable;
import dev.onehop.routing.internal.affinity.Affinity;
import dev.onehop.routing.internal.affinity.ClusterPin;
import dev.onehop.routing.internal.affinity.ClusterWatch;
import dev.onehop.routing.internal.affinity.PrimaryWatch;
import dev.onehop.routing.internal.affinity.RouterProbe;
import dev.onehop.routing.internal.metrics.CommandMeter;
import dev.onehop.routing.internal.metrics.TableMetrics;
import dev.onehop.routing.internal.router.Base;
import dev.onehop.routing.internal.router.RouterClients;
import dev.onehop.routing.internal.router.RouterClients.Face;
import dev.onehop.shards.catalog.RoutingCatalog;
import dev.onehop.shards.catalog.RoutingCatalog.RefreshListener;
import dev.onehop.wire.connection.Connections;
import dev.onehop.wire.driver.Carrier;
import dev.onehop.wire.watch.DriverObservations;
import dev.onehop.wire.watch.InternalSettings;
import dev.onehop.wire.watch.PreferredZones;
import dev.onehop.wire.watch.SingleServer;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** Makes the clients of targeted mode, on a {@link TargetedRouter}. */
public final class TargetedMode {
  private TargetedMode() {}

  /**
   * What is asked of targeted mode beside the driver's own settings.
   *
   * @param watching how the cluster is watched
   * @param tables measures routing tables
   * @param affinity gets each affinity that is read
   * @param commands measures commands
   */
  public record Options(
      ClusterWatch.Settings watching,
      PreferredZones zones,
      TableMetrics tables,
      Consumer<Affinity> affinity,
      CommandMeter commands) {}

  /**
   * Connects in the background, like the official client.
   *
   * @param asked settings of the application: the seeds are mongoses
   * @param release stops what was started for this client, once it is closed
   */
  public static RouterClients create(
      MongoClientSettings asked, Carrier carrier, Options options, Runnable release) {
    Base base = Base.of(asked, carrier, release);
    MongoClientSettings settings = base.watching();
    RouterProbe probe = new RouterProbe(carrier.group(), base.wire());
    ClusterSettings cluster = settings.getClusterSettings();
    ClusterPin pin =
        new ClusterPin(
            probe::identify, cluster.getSrvHost() == null ? cluster.getHosts() : List.of());
    Connections connections = base.connections();
    Mongoses mongoses =
        new Mongoses(SingleServer.soonHeard(watching(settings)), pin, options.zones(), connections);
    AtomicReference<@Nullable ClusterWatch> known = new AtomicReference<>();
    RoutingCatalog catalog =
        new RoutingCatalog(
            new MongosConfig(mongoses, connections.onEventLoops()),
            refreshes(options.tables(), known));
    options.tables().agesFrom(catalog::age);
    ClusterWatch clusterWatch =
        new ClusterWatch(
            catalog,
            affinity -> {
              options.affinity().accept(affinity);
              mongoses.update(affinity);
            },
            options.watching(),
            pin,
            probe,
            changed -> new PrimaryWatch(settings, connections, changed));
    known.set(clusterWatch);
    TargetedRouter router =
        new TargetedRouter(
            mongoses, catalog, connections, clusterWatch.affinityReady(), clusterWatch::close);
    return clients(router, base, options.commands());
  }

  /**
   * The same without routing: every command goes where the official client would send it.
   *
   * @param asked settings of the application: the seeds are mongoses, members of a replica set or a
   *     standalone
   * @param zones that the application prefers
   * @param commands measures commands
   * @param release stops what was started for this client, once it is closed
   */
  public static RouterClients unrouted(
      MongoClientSettings asked,
      Carrier carrier,
      PreferredZones zones,
      CommandMeter commands,
      Runnable release) {
    Base base = Base.of(asked, carrier, release);
    Mongoses mongoses =
        new Mongoses(
            zones.isEmpty()
                ? watching(base.watching())
                : SingleServer.soonHeard(watching(base.watching())),
            ClusterPin.none(),
            zones,
            base.connections());
    return clients(
        new TargetedRouter(mongoses, null, base.connections(), Mono.empty(), () -> {}),
        base,
        commands);
  }

  private static RouterClients clients(TargetedRouter router, Base base, CommandMeter commands) {
    Face face =
        new Face(
            new TargetedIdentity(router.mongoses()),
            true,
            virtual -> DriverObservations.copy(base.asked(), virtual));
    return new RouterClients(router, base, face, commands);
  }

  /** The application's listeners get what happens to the real servers, too. */
  private static MongoClientSettings watching(MongoClientSettings asked) {
    return MongoClientSettings.builder(InternalSettings.of(asked))
        .applyToClusterSettings(
            cluster ->
                cluster.clusterListenerList(asked.getClusterSettings().getClusterListeners()))
        .applyToServerSettings(
            servers -> servers.serverListenerList(asked.getServerSettings().getServerListeners()))
        .build();
  }

  private static RefreshListener refreshes(
      TableMetrics tables, AtomicReference<@Nullable ClusterWatch> known) {
    return new RefreshListener() {
      @Override
      public void refreshed(
          String namespace,
          @Nullable RoutingTable table,
          Duration took,
          @Nullable Throwable failure) {
        tables.refreshed(namespace, table, took, failure);
        ClusterWatch watch = known.get();
        if (table != null && watch != null) {
          watch.tableLoaded(table);
        }
      }

      @Override
      public void forgotten(String namespace) {
        tables.forgotten(namespace);
      }
    };
  }
}
