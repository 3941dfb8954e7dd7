package dev.onehop.routing.internal.router;

import com.mongodb.MongoClientSettings;
import com.mongodb.MongoDriverInformation;
import com.mongodb.ServerAddress;
import com.mongodb.connection.ClusterConnectionMode;
import com.mongodb.connection.TransportSettings;
import com.mongodb.event.ClusterClosedEvent;
import com.mongodb.event.ClusterListener;
import com.mongodb.reactivestreams.client.MongoClient;
import com.mongodb.reactivestreams.client.MongoClients;
import dev.onehop.routing.internal.catalog.RoutingCatalog;
import dev.onehop.routing.internal.command.CommandRouter;
import dev.onehop.routing.internal.command.Refreshes;
import dev.onehop.routing.internal.direct.shard.ServerSet;
import dev.onehop.routing.internal.wire.ServerAddressName;
import dev.onehop.routing.internal.wire.WirePool;
import dev.onehop.routing.internal.wire.WireSettings;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.socket.SocketChannel;
import java.net.InetAddress;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** Makes the client of direct mode: the official one, on a {@link VirtualMongos}. */
public final class DirectClient {
  /** As which the virtual mongos appears in errors and events. */
  private static final ServerAddress VIRTUAL = new ServerAddress("onehop-direct", 27017);

  private static final int MAX_CONNECTING = 64;

  private DirectClient() {}

  /**
   * What carries the connections to the shards.
   *
   * @param group event loops, on which the virtual mongos lives, too
   * @param channelClass of the connections, which must fit the event loops
   * @param maxPoolSize most connections per server
   * @param maxConnecting most that are opened at once per server, 0 for no limit
   */
  public record Carrier(
      EventLoopGroup group,
      Class<? extends SocketChannel> channelClass,
      int maxPoolSize,
      int maxConnecting) {}

  /** Makes the router; another one only in tests. */
  public interface RouterFactory {
    CommandRouter create(
        ServerSet seeds, ServerSet.Factory watcher, WirePool pool, Refreshes refreshes);
  }

  /**
   * What is asked of direct mode beside the driver's own settings.
   *
   * @param refreshInterval how often the shards and the default concerns are read again
   * @param hostMapping from the cluster's names to those that the application uses; null if these
   *     are the same
   * @param tables measures routing tables
   * @param commands measures commands
   */
  public record Options(
      Duration refreshInterval,
      @Nullable UnaryOperator<ServerAddressName> hostMapping,
      TableMeter tables,
      CommandMeter commands) {}

  /** Measures routing tables. */
  public interface TableMeter extends RoutingCatalog.RefreshListener {
    /** From where the ages of routing tables are asked. */
    void agesFrom(Function<String, Optional<Duration>> source);
  }

  /**
   * Connects in the background, like the official client.
   *
   * @param settings of the application: the seeds are the cluster's mongoses or config servers
   * @param monitoring transport of the connections that watch the servers
   * @param options what else is asked
   * @param release stops what was started for this client, once it is closed
   */
  public static MongoClient create(
      MongoClientSettings settings,
      Carrier carrier,
      TransportSettings monitoring,
      RouterFactory routers,
      Options options,
      Runnable release) {
    WireSettings sockets = DriverSockets.of(settings, carrier);
    WirePool pool = new WirePool(carrier.group(), sockets);
    ProxiedChannels proxied =
        sockets.sockets().proxy() == null ? null : new ProxiedChannels(sockets.sockets());
    MongoClientSettings watching =
        proxied != null
            ? proxied.applyTo(settings)
            : MongoClientSettings.builder(settings).transportSettings(monitoring).build();
    CommandRouter router =
        routers.create(
            MonitoredServers.of(watching, options.hostMapping()),
            MonitoredServers.replicaSets(watching, options.hostMapping()),
            pool,
            new Refreshes(options.refreshInterval(), options.tables()));
    options.tables().agesFrom(router::tableAge);
    long handle = RouterHandles.put(router);
    LocalCommands local = new LocalCommands(new DirectIdentity(router), handle);
    VirtualMongos.put(carrier.group(), router, local, options.commands());
    Runnable close =
        () -> {
          RouterHandles.remove(handle);
          VirtualMongos.remove(carrier.group());
          router.close();
          if (proxied != null) {
            proxied.close();
          }
          release.run();
        };
    return MongoClients.create(
        virtual(ProxiedChannels.withoutProxy(settings), carrier.group(), options.commands(), close),
        MongoDriverInformation.builder().driverName("onehop").build());
  }

  /** The application's settings for a client that needs no credentials and no TLS. */
  private static MongoClientSettings virtual(
      MongoClientSettings settings, EventLoopGroup group, CommandMeter meter, Runnable close) {
    MongoClientSettings.Builder builder = MongoClientSettings.builder();
    builder
        .codecRegistry(settings.getCodecRegistry())
        .readPreference(settings.getReadPreference())
        .readConcern(settings.getReadConcern())
        .writeConcern(settings.getWriteConcern())
        .retryReads(settings.getRetryReads())
        .retryWrites(settings.getRetryWrites())
        .commandListenerList(settings.getCommandListeners())
        .uuidRepresentation(settings.getUuidRepresentation())
        .contextProvider(settings.getContextProvider())
        .applicationName(settings.getApplicationName())
        .applyToLoggerSettings(log -> log.applySettings(settings.getLoggerSettings()))
        .applyToServerSettings(server -> server.applySettings(settings.getServerSettings()))
        .applyToSocketSettings(socket -> socket.applySettings(settings.getSocketSettings()))
        .applyToConnectionPoolSettings(
            pool ->
                pool.applySettings(settings.getConnectionPoolSettings())
                    // What is bounded are the connections to the shards.
                    .minSize(0)
                    .maxSize(0)
                    .maxConnecting(MAX_CONNECTING))
        .applyToClusterSettings(
            cluster ->
                cluster
                    .mode(ClusterConnectionMode.SINGLE)
                    .hosts(List.of(VIRTUAL))
                    .addClusterListener(
                        new ClusterListener() {
                          @Override
                          public void clusterClosed(ClusterClosedEvent event) {
                            close.run();
                          }
                        })
                    .serverSelectionTimeout(
                        selectionTimeoutMillis(settings), TimeUnit.MILLISECONDS))
        .inetAddressResolver(host -> List.of(InetAddress.getLoopbackAddress()))
        .transportSettings(
            TransportSettings.nettyBuilder()
                .eventLoopGroup(group)
                .socketChannelClass(VirtualMongos.class)
                .build());
    meter.applyTo(builder, settings.getContextProvider());
    if (settings.getServerApi() != null) {
      builder.serverApi(settings.getServerApi());
    }
    if (settings.getAutoEncryptionSettings() != null) {
      builder.autoEncryptionSettings(settings.getAutoEncryptionSettings());
    }
    Long timeout = settings.getTimeout(TimeUnit.MILLISECONDS);
    if (timeout != null) {
      builder.timeout(timeout, TimeUnit.MILLISECONDS);
    }
    return builder.build();
  }

  /** More than that for real servers, whose failure to be found is to be told. */
  private static long selectionTimeoutMillis(MongoClientSettings settings) {
    long asked = settings.getClusterSettings().getServerSelectionTimeout(TimeUnit.MILLISECONDS);
    return asked < 0 ? asked : asked + 2 * VirtualMongos.START_TIMEOUT.toMillis();
  }
}
