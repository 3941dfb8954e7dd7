package dev.onehop.routing.internal.router;

import com.mongodb.AuthenticationMechanism;
import com.mongodb.MongoClientSettings;
import com.mongodb.MongoCredential;
import com.mongodb.MongoDriverInformation;
import com.mongodb.ServerAddress;
import com.mongodb.connection.ClusterConnectionMode;
import com.mongodb.connection.SslSettings;
import com.mongodb.connection.TransportSettings;
import com.mongodb.event.ClusterClosedEvent;
import com.mongodb.event.ClusterListener;
import com.mongodb.reactivestreams.client.MongoClient;
import com.mongodb.reactivestreams.client.MongoClients;
import com.mongodb.spi.dns.InetAddressResolver;
import com.mongodb.spi.dns.InetAddressResolverProvider;
import dev.onehop.routing.internal.catalog.RoutingCatalog;
import dev.onehop.routing.internal.command.CommandRouter;
import dev.onehop.routing.internal.command.Refreshes;
import dev.onehop.routing.internal.direct.shard.ServerSet;
import dev.onehop.routing.internal.wire.Addresses;
import dev.onehop.routing.internal.wire.ServerAddressName;
import dev.onehop.routing.internal.wire.WireCredential;
import dev.onehop.routing.internal.wire.WirePool;
import dev.onehop.routing.internal.wire.WireSettings;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.socket.SocketChannel;
import java.net.InetAddress;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.ServiceLoader;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLParameters;
import org.bson.BsonDocument;
import org.bson.BsonString;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Makes the client of direct mode: the official one, on a {@link VirtualMongos}. */
public final class DirectClient {
  private static final Logger log = LoggerFactory.getLogger(DirectClient.class);

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
   */
  public record Carrier(
      EventLoopGroup group, Class<? extends SocketChannel> channelClass, int maxPoolSize) {}

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
    if (!settings.getCompressorList().isEmpty()) {
      log.warn(
          "direct mode does not compress: {} is passed over, but for what watches the servers",
          settings.getCompressorList());
    }
    WirePool pool = new WirePool(carrier.group(), wireSettings(settings, carrier));
    MongoClientSettings watching =
        MongoClientSettings.builder(settings).transportSettings(monitoring).build();
    CommandRouter router =
        routers.create(
            MonitoredServers.of(watching, options.hostMapping()),
            MonitoredServers.replicaSets(watching, options.hostMapping()),
            pool,
            new Refreshes(options.refreshInterval(), options.tables()));
    options.tables().agesFrom(router::tableAge);
    Face face =
        new Face(
            VIRTUAL,
            new DirectIdentity(router),
            false,
            // More than that for real servers, whose failure to be found is to be told.
            virtual ->
                virtual.applyToClusterSettings(
                    cluster ->
                        cluster.serverSelectionTimeout(
                            selectionTimeoutMillis(settings), TimeUnit.MILLISECONDS)));
    return over(router, settings, carrier.group(), face, options.commands(), release);
  }

  /**
   * How a virtual mongos looks to the driver.
   *
   * @param address as which it appears in errors and events
   * @param handshakeOnly whether it answers no more than the handshake by itself
   * @param change what is different in the driver's settings
   */
  public record Face(
      ServerAddress address,
      RouterIdentity identity,
      boolean handshakeOnly,
      Consumer<MongoClientSettings.Builder> change) {}

  /**
   * The official client on a virtual mongos.
   *
   * @param router stands behind it; closed with the client
   * @param group event loops, on which the virtual mongos lives
   * @param commands measures commands
   * @param release stops what was started for this client, once it is closed
   */
  public static MongoClient over(
      CommandRouter router,
      MongoClientSettings settings,
      EventLoopGroup group,
      Face face,
      CommandMeter commands,
      Runnable release) {
    long handle = RouterHandles.put(router);
    LocalCommands local = new LocalCommands(face.identity(), handle, face.handshakeOnly());
    VirtualMongos.put(group, router, local, commands);
    Runnable close =
        () -> {
          RouterHandles.remove(handle);
          VirtualMongos.remove(group);
          router.close();
          release.run();
        };
    MongoClientSettings.Builder virtual = virtual(settings, group, face.address(), commands, close);
    face.change().accept(virtual);
    return MongoClients.create(
        virtual.build(), MongoDriverInformation.builder().driverName("onehop").build());
  }

  /** The application's settings for a client that needs no credentials and no TLS. */
  private static MongoClientSettings.Builder virtual(
      MongoClientSettings settings,
      EventLoopGroup group,
      ServerAddress address,
      CommandMeter meter,
      Runnable close) {
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
                    .hosts(List.of(address))
                    .addClusterListener(
                        new ClusterListener() {
                          @Override
                          public void clusterClosed(ClusterClosedEvent event) {
                            close.run();
                          }
                        })
                    .serverSelectionTimeout(
                        settings
                            .getClusterSettings()
                            .getServerSelectionTimeout(TimeUnit.MILLISECONDS),
                        TimeUnit.MILLISECONDS))
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
    return builder;
  }

  private static long selectionTimeoutMillis(MongoClientSettings settings) {
    long asked = settings.getClusterSettings().getServerSelectionTimeout(TimeUnit.MILLISECONDS);
    return asked < 0 ? asked : asked + 2 * VirtualMongos.START_TIMEOUT.toMillis();
  }

  /** How the router reaches the servers. */
  public static WireSettings wireSettings(MongoClientSettings settings, Carrier carrier) {
    BsonDocument client =
        new BsonDocument(
                "driver",
                new BsonDocument("name", new BsonString("onehop-direct"))
                    .append("version", new BsonString("0.1.0")))
            .append("os", new BsonDocument("type", new BsonString(System.getProperty("os.name"))));
    if (settings.getApplicationName() != null) {
      client.append(
          "application", new BsonDocument("name", new BsonString(settings.getApplicationName())));
    }
    return new WireSettings(
        carrier.channelClass(),
        null,
        Duration.ofMillis(settings.getSocketSettings().getConnectTimeout(TimeUnit.MILLISECONDS)),
        carrier.maxPoolSize(),
        Duration.ofMillis(
            settings.getConnectionPoolSettings().getMaxWaitTime(TimeUnit.MILLISECONDS)),
        Duration.ofMillis(
            settings.getConnectionPoolSettings().getMaxConnectionIdleTime(TimeUnit.MILLISECONDS)),
        tls(settings.getSslSettings()),
        credential(settings.getCredential()),
        client,
        new Addresses(lookup(settings), Map.of()));
  }

  /** Finds what looks names up as the driver does. */
  private static Addresses.Lookup lookup(MongoClientSettings settings) {
    InetAddressResolver own = settings.getInetAddressResolver();
    if (own != null) {
      return own::lookupByName;
    }
    return ServiceLoader.load(InetAddressResolverProvider.class)
        .findFirst()
        .map(provider -> (Addresses.Lookup) provider.create()::lookupByName)
        .orElse(Addresses.Lookup.SYSTEM);
  }

  private static WireSettings.@Nullable Tls tls(SslSettings settings) {
    if (!settings.isEnabled()) {
      return null;
    }
    SSLContext context;
    try {
      context = settings.getContext() == null ? SSLContext.getDefault() : settings.getContext();
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("no TLS in this Java runtime", e);
    }
    SSLContext used = context;
    return (ServerAddressName server) -> {
      SSLEngine engine = used.createSSLEngine(server.host(), server.port());
      engine.setUseClientMode(true);
      if (!settings.isInvalidHostNameAllowed()) {
        SSLParameters parameters = engine.getSSLParameters();
        parameters.setEndpointIdentificationAlgorithm("HTTPS");
        engine.setSSLParameters(parameters);
      }
      return engine;
    };
  }

  /** Whether the router's sockets can authenticate so. */
  public static boolean canAuthenticate(@Nullable MongoCredential credential) {
    AuthenticationMechanism mechanism =
        credential == null ? null : credential.getAuthenticationMechanism();
    return mechanism == null
        || switch (mechanism) {
          case SCRAM_SHA_1, SCRAM_SHA_256, MONGODB_X509 -> true;
          default -> false;
        };
  }

  private static @Nullable WireCredential credential(@Nullable MongoCredential credential) {
    if (credential == null) {
      return null;
    }
    AuthenticationMechanism mechanism = credential.getAuthenticationMechanism();
    if (mechanism != null && !canAuthenticate(credential)) {
      throw new IllegalArgumentException(
          "direct mode authenticates by SCRAM or X.509, not by " + mechanism.getMechanismName());
    }
    return new WireCredential(
        mechanism == null ? null : mechanism.getMechanismName(),
        credential.getUserName(),
        Objects.requireNonNullElse(credential.getSource(), "admin"),
        credential.getPassword());
  }
}
