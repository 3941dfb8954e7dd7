package dev.onehop.routing.internal.targeted;

import com.mongodb.MongoClientSettings;
import com.mongodb.connection.ClusterSettings;
import dev.onehop.routing.internal.affinity.Affinity;
import dev.onehop.routing.internal.affinity.ClusterPin;
import dev.onehop.routing.internal.affinity.ClusterWatch;
import dev.onehop.routing.internal.affinity.PrimaryWatch;
import dev.onehop.routing.internal.affinity.RouterProbe;
import dev.onehop.routing.internal.metrics.CommandMeter;
import dev.onehop.routing.internal.metrics.TableMetrics;
import dev.onehop.routing.internal.router.RouterClients;
import dev.onehop.routing.internal.router.RouterClients.Face;
import dev.onehop.shards.catalog.RoutingCatalog;
import dev.onehop.wire.connection.Connections;
import dev.onehop.wire.driver.Reach;
import dev.onehop.wire.watch.DriverObservations;
import dev.onehop.wire.watch.InternalSettings;
import dev.onehop.wire.watch.PreferredZones;
import dev.onehop.wire.watch.SingleServer;
import java.util.List;
import java.util.function.Consumer;
import reactor.core.publisher.Mono;

/** Creates the clients of targeted mode, on a {@link TargetedRouter}. */
public final class TargetedMode {
  private TargetedMode() {}

  /**
   * Targeted mode's own settings, in addition to the driver's settings.
   *
   * @param watching the settings of the cluster watch
   * @param zones the zones that the application prefers
   * @param tables measures routing tables
   * @param affinity receives each new affinity
   * @param commands measures commands
   */
  public record Options(
      ClusterWatch.Settings watching,
      PreferredZones zones,
      TableMetrics tables,
      Consumer<Affinity> affinity,
      CommandMeter commands) {}

  /**
   * Creates a router that connects in the background, like the official client.
   *
   * @param reach the settings and connections of the cluster; its seeds are mongoses
   */
  public static RouterClients create(Reach reach, Options options) {
    Connections connections = reach.connections();
    MongoClientSettings settings = reach.watching();
    RouterProbe probe = new RouterProbe(reach.carrier().group(), reach.wire());
    ClusterSettings cluster = settings.getClusterSettings();
    ClusterPin pin =
        new ClusterPin(
            probe::identify, cluster.getSrvHost() == null ? cluster.getHosts() : List.of());
    Mongoses mongoses =
        new Mongoses(SingleServer.soonHeard(watching(settings)), pin, options.zones(), connections);
    ClusterWatch clusterWatch =
        new ClusterWatch(
            new MongosConfig(mongoses, connections.onEventLoops()),
            options.tables(),
            affinity -> {
              options.affinity().accept(affinity);
              mongoses.update(affinity);
            },
            options.watching(),
            pin,
            probe,
            changed -> new PrimaryWatch(settings, connections, changed));
    RoutingCatalog catalog = clusterWatch.catalog();
    options.tables().agesFrom(catalog::age);
    TargetedRouter router =
        new TargetedRouter(
            mongoses, catalog, connections, clusterWatch.affinityReady(), clusterWatch::close);
    return clients(router, reach, options.commands());
  }

  /**
   * Creates clients without routing: every command goes to the server that the official client
   * would choose.
   *
   * @param reach the settings and connections of the seeds: mongoses, members of a replica set or a
   *     standalone
   * @param zones the zones that the application prefers
   * @param commands measures commands
   */
  public static RouterClients unrouted(Reach reach, PreferredZones zones, CommandMeter commands) {
    MongoClientSettings watching = watching(reach.watching());
    Mongoses mongoses =
        new Mongoses(
            zones.isEmpty() ? watching : SingleServer.soonHeard(watching),
            ClusterPin.none(),
            zones,
            reach.connections());
    return clients(
        new TargetedRouter(mongoses, null, reach.connections(), Mono.empty(), () -> {}),
        reach,
        commands);
  }

  private static RouterClients clients(TargetedRouter router, Reach reach, CommandMeter commands) {
    Face face =
        new Face(
            new TargetedIdentity(router.mongoses()),
            true,
            virtual -> DriverObservations.copy(reach.asked(), virtual));
    return new RouterClients(router, reach, face, commands);
  }

  /** Adds the application's listeners, so that they receive the events of the real servers, too. */
  private static MongoClientSettings watching(MongoClientSettings given) {
    return MongoClientSettings.builder(InternalSettings.of(given))
        .applyToClusterSettings(
            cluster ->
                cluster.clusterListenerList(given.getClusterSettings().getClusterListeners()))
        .applyToServerSettings(
            servers -> servers.serverListenerList(given.getServerSettings().getServerListeners()))
        .build();
  }
}
