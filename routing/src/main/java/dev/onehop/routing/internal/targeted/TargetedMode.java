package dev.onehop.routing.internal.targeted;

import com.mongodb.MongoClientSettings;
import com.mongodb.ServerAddress;
import com.mongodb.connection.ClusterSettings;
import com.mongodb.connection.TransportSettings;
import dev.onehop.core.table.RoutingTable;
import dev.onehop.routing.internal.affinity.Affinity;
import dev.onehop.routing.internal.affinity.ClusterPin;
import dev.onehop.routing.internal.affinity.ClusterWatch;
import dev.onehop.routing.internal.affinity.Connector;
import dev.onehop.routing.internal.affinity.InternalSettings;
import dev.onehop.routing.internal.affinity.PrimaryWatch;
import dev.onehop.routing.internal.affinity.RouterProbe;
import dev.onehop.routing.internal.affinity.ShardClients;
import dev.onehop.routing.internal.affinity.SingleServer;
import dev.onehop.routing.internal.catalog.RoutingCatalog;
import dev.onehop.routing.internal.catalog.RoutingCatalog.RefreshListener;
import dev.onehop.routing.internal.metrics.CommandMeter;
import dev.onehop.routing.internal.metrics.TableMetrics;
import dev.onehop.routing.internal.router.DriverObservations;
import dev.onehop.routing.internal.router.ProxiedChannels;
import dev.onehop.routing.internal.router.RouterClients;
import dev.onehop.routing.internal.router.RouterClients.Carrier;
import dev.onehop.routing.internal.router.RouterClients.Face;
import dev.onehop.routing.internal.wire.Connections;
import dev.onehop.routing.internal.wire.WireSettings;
import dev.onehop.routing.internal.zones.PreferredZones;
import dev.onehop.routing.spi.wire.ServerAddressName;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** Makes the clients of targeted mode, on a {@link TargetedRouter}. */
public final class TargetedMode {
  private static final ServerAddressName VIRTUAL = new ServerAddressName("onehop-targeted", 27017);

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
   * @param monitoring transport of the connections that watch the servers
   * @param connect makes the official clients that watch servers
   * @param release stops what was started for this client, once it is closed
   */
  public static RouterClients create(
      MongoClientSettings asked,
      Carrier carrier,
      TransportSettings monitoring,
      Connector connect,
      Options options,
      Runnable release) {
    WireSettings wire = RouterClients.wire(asked, carrier);
    ProxiedChannels.Watching watch = ProxiedChannels.watching(asked, wire.sockets(), monitoring);
    MongoClientSettings settings = watch.settings();
    MongoClientSettings watching = watching(settings, options.zones());
    RouterProbe probe = new RouterProbe(settings, connect);
    ClusterSettings cluster = settings.getClusterSettings();
    ClusterPin pin =
        new ClusterPin(
            probe::identify, cluster.getSrvHost() == null ? cluster.getHosts() : List.of());
    Connections connections = new Connections(carrier.group(), wire);
    Mongoses mongoses =
        new Mongoses(
            watching,
            connect,
            listening -> new ShardClients(watching, pin, listening),
            options.zones(),
            connections);
    MongosConfig config = new MongosConfig(mongoses, connections.onEventLoops());
    AtomicReference<@Nullable ClusterWatch> known = new AtomicReference<>();
    RoutingCatalog catalog = new RoutingCatalog(config, refreshes(options.tables(), known));
    options.tables().agesFrom(catalog::age);
    ClusterWatch clusterWatch =
        new ClusterWatch(
            config,
            catalog,
            mongoses.clients(),
            options.affinity(),
            options.watching(),
            pin,
            probe,
            changed ->
                new PrimaryWatch(settings, connect, options.watching().hostMapping(), changed));
    known.set(clusterWatch);
    TargetedRouter router =
        new TargetedRouter(
            mongoses, catalog, connections, clusterWatch.affinityReady(), clusterWatch::close);
    return clients(
        router, mongoses, connections, asked, carrier, options.commands(), watch, release);
  }

  /**
   * The same without routing: every command goes where the official client would send it.
   *
   * @param asked settings of the application: the seeds are mongoses, members of a replica set or a
   *     standalone
   * @param monitoring transport of the connections that watch the servers
   * @param connect makes the official clients that watch servers
   * @param zones that the application prefers
   * @param commands measures commands
   * @param release stops what was started for this client, once it is closed
   */
  public static RouterClients unrouted(
      MongoClientSettings asked,
      Carrier carrier,
      TransportSettings monitoring,
      Connector connect,
      PreferredZones zones,
      CommandMeter commands,
      Runnable release) {
    WireSettings wire = RouterClients.wire(asked, carrier);
    ProxiedChannels.Watching watch = ProxiedChannels.watching(asked, wire.sockets(), monitoring);
    MongoClientSettings watching = watching(watch.settings(), zones);
    Connections connections = new Connections(carrier.group(), wire);
    Mongoses mongoses =
        new Mongoses(
            watching,
            connect,
            listening -> new ShardClients(watching, ClusterPin.none(), listening),
            zones,
            connections);
    TargetedRouter router = new TargetedRouter(mongoses, null, connections, Mono.empty(), () -> {});
    return clients(router, mongoses, connections, asked, carrier, commands, watch, release);
  }

  private static RouterClients clients(
      TargetedRouter router,
      Mongoses mongoses,
      Connections connections,
      MongoClientSettings asked,
      Carrier carrier,
      CommandMeter commands,
      ProxiedChannels.Watching watch,
      Runnable release) {
    Face face =
        new Face(
            new ServerAddress(VIRTUAL.host(), VIRTUAL.port()),
            new TargetedIdentity(VIRTUAL, mongoses),
            true,
            virtual -> DriverObservations.copy(asked, virtual));
    return RouterClients.over(
        router,
        connections.blocking(),
        asked,
        carrier,
        face,
        commands,
        () -> {
          watch.release().run();
          release.run();
        });
  }

  /**
   * The application's listeners get what happens to the real servers, too. Where zones are
   * preferred, a server that comes back is noticed soon.
   */
  private static MongoClientSettings watching(MongoClientSettings asked, PreferredZones zones) {
    return MongoClientSettings.builder(InternalSettings.of(asked))
        .applyToClusterSettings(
            cluster ->
                cluster.clusterListenerList(asked.getClusterSettings().getClusterListeners()))
        .applyToServerSettings(
            servers ->
                servers
                    .applySettings(
                        zones.isEmpty()
                            ? asked.getServerSettings()
                            : SingleServer.soonHeard(asked.getServerSettings()))
                    .serverMonitorListenerList(List.of())
                    .serverListenerList(asked.getServerSettings().getServerListeners()))
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
