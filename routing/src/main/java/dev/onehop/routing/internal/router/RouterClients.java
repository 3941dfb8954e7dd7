package dev.onehop.routing.internal.router;

import com.mongodb.MongoClientSettings;
import com.mongodb.connection.ClusterConnectionMode;
import com.mongodb.event.ClusterClosedEvent;
import com.mongodb.event.ClusterListener;
import com.mongodb.event.ClusterOpeningEvent;
import dev.onehop.routing.internal.metrics.CommandMeter;
import dev.onehop.routing.internal.metrics.ExplainedRouter;
import dev.onehop.routing.observation.RouterStatus;
import dev.onehop.shards.catalog.UnknownNamespaceException;
import dev.onehop.shards.request.LocalCommands;
import dev.onehop.shards.request.RouterIdentity;
import dev.onehop.wire.channel.CallerRunsEventLoops;
import dev.onehop.wire.driver.Carrier;
import dev.onehop.wire.driver.ProxiedChannels;
import dev.onehop.wire.driver.Reach;
import dev.onehop.wire.watch.SingleServer;
import io.netty.channel.EventLoopGroup;
import java.net.InetAddress;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.util.retry.Retry;

/**
 * A router with its official clients: reactive clients on {@link VirtualMongos}, synchronous
 * clients on {@link InProcessSockets}.
 *
 * <p>Thread-safe.
 */
public final class RouterClients implements AutoCloseable {
  private static final String CLOSED = "the router is closed";

  private static final int MAX_CONNECTING = 64;

  /** The interval between checks for missing information. */
  private static final Duration LOOK = Duration.ofMillis(50);

  /** The longest pause between two attempts to load routing tables. */
  private static final Duration LONGEST_BACKOFF = Duration.ofSeconds(1);

  /**
   * The interval in milliseconds at which the driver checks the virtual mongos. Within this
   * interval the driver notices that all servers are down, or that a server is up again. The check
   * sends nothing over the network.
   */
  private static final int HEARTBEAT_MILLIS = 500;

  /**
   * When a connection to a real server has broken, the driver checks and uses the virtual mongos
   * again after this time, in milliseconds.
   */
  private static final int LEAST_HEARTBEAT_MILLIS = 50;

  private final Reach reach;
  private final EventLoopGroup loops;
  private final ExplainedRouter router;
  private final Face face;
  private final CommandMeter meter;
  private final InProcessSockets sockets;
  private final Disposable reporting;
  private final AtomicBoolean closed = new AtomicBoolean();

  /**
   * @param router executes the commands of the virtual mongos; closed with this object
   * @param meter measures commands
   */
  public RouterClients(ExplainedRouter router, Reach reach, Face face, CommandMeter meter) {
    this.router = router;
    this.reach = reach;
    this.loops = new CallerRunsEventLoops(reach.carrier().group());
    this.face = face;
    this.meter = meter;
    LocalCommands local = new LocalCommands(face.identity(), face.handshakeOnly());
    VirtualMongos.put(loops, router, local, meter);
    this.sockets = new InProcessSockets(router, local, meter, reach.connections().blocking());
    this.reporting = StatusLog.start(router);
  }

  /** The current state of the router. */
  public RouterStatus status() {
    RouterStatus status = router.status();
    return closed.get()
        ? new RouterStatus(
            status.mode(), false, status.clusterId(), Map.of(), Map.of(), List.of(CLOSED))
        : status;
  }

  /**
   * Completes when operations can be routed and the tables of these collections are loaded. Fails
   * if a database does not exist.
   *
   * @param failed receives each failure, also if another attempt follows
   */
  public Mono<Void> ready(List<String> namespaces, Consumer<Throwable> failed) {
    return Mono.defer(
            () -> closed.get() ? Mono.error(new IllegalStateException(CLOSED)) : router.usable())
        .thenMany(Flux.fromIterable(namespaces))
        .flatMap(router::table)
        .then()
        .doOnError(failed)
        .retryWhen(
            Retry.backoff(Long.MAX_VALUE, LOOK)
                .maxBackoff(LONGEST_BACKOFF)
                .filter(failure -> !closed.get() && mayPass(failure)))
        .then(Mono.fromSupplier(router::status))
        .filter(status -> status.isReady() || closed.get())
        .repeatWhenEmpty(again -> again.delayElements(LOOK))
        .then();
  }

  private void checkOpen() {
    if (closed.get()) {
      throw new IllegalStateException(CLOSED);
    }
  }

  /**
   * Whether another attempt may succeed. Another attempt cannot help if the database does not
   * exist: then the exception is an {@link UnknownNamespaceException} without a cause.
   */
  private static boolean mayPass(Throwable failure) {
    return !(failure instanceof UnknownNamespaceException) || failure.getCause() != null;
  }

  /** Turns the routing of new operations on or off. */
  public void setRouting(boolean on) {
    checkOpen();
    router.setRouting(on);
  }

  /**
   * The properties of a virtual mongos that the driver sees.
   *
   * @param identity the identity; its address appears in errors and events
   * @param handshakeOnly whether the virtual mongos itself replies only to handshakes
   * @param change changes the driver's settings
   */
  public record Face(
      RouterIdentity identity,
      boolean handshakeOnly,
      Consumer<MongoClientSettings.Builder> change) {}

  /**
   * The settings of reactive clients. The calling threads choose the route and write to the socket.
   */
  public MongoClientSettings reactiveSettings() {
    MongoClientSettings.Builder builder =
        virtual(ProxiedChannels.withoutProxy(reach.asked()))
            .transportSettings(Carrier.transport(loops, VirtualMongos.class));
    meter.observations().applyTo(builder, reach.asked().getContextProvider());
    face.change().accept(builder);
    return builder.build();
  }

  /** The settings of synchronous clients. The calling threads do all the work. */
  public MongoClientSettings syncSettings() {
    MongoClientSettings.Builder builder =
        virtual(ProxiedChannels.withoutProxy(reach.asked()))
            .applyToSslSettings(
                ssl -> ssl.enabled(true).context(sockets.context()).invalidHostNameAllowed(true));
    meter.observations().applyToSync(builder, reach.asked().getContextProvider());
    face.change().accept(builder);
    return builder.build();
  }

  /** Explanations of routes. */
  public Explanations explanations() {
    checkOpen();
    return new Explanations(router, reach.asked());
  }

  /** Changes settings so that the router closes with the client. */
  public MongoClientSettings closing(MongoClientSettings settings) {
    // With client-side encryption, the driver creates further clients from the same settings. The
    // router closes when the last of these clients is closed.
    AtomicInteger open = new AtomicInteger();
    return MongoClientSettings.builder(settings)
        .applyToClusterSettings(
            cluster ->
                cluster.addClusterListener(
                    new ClusterListener() {
                      @Override
                      public void clusterOpening(ClusterOpeningEvent event) {
                        open.incrementAndGet();
                      }

                      @Override
                      public void clusterClosed(ClusterClosedEvent event) {
                        if (open.decrementAndGet() == 0) {
                          close();
                        }
                      }
                    }))
        .build();
  }

  /** Closes the router. Operations of clients that are still open fail. */
  @Override
  public void close() {
    if (closed.compareAndSet(false, true)) {
      reporting.dispose();
      sockets.close();
      VirtualMongos.remove(loops);
      router.close();
      reach.release().run();
    }
  }

  /** The application's settings without credentials and TLS. */
  private MongoClientSettings.Builder virtual(MongoClientSettings settings) {
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
        .applyToServerSettings(
            server ->
                server
                    .applySettings(settings.getServerSettings())
                    .heartbeatFrequency(HEARTBEAT_MILLIS, TimeUnit.MILLISECONDS)
                    .minHeartbeatFrequency(LEAST_HEARTBEAT_MILLIS, TimeUnit.MILLISECONDS))
        .applyToSocketSettings(socket -> socket.applySettings(settings.getSocketSettings()))
        .applyToConnectionPoolSettings(
            pool ->
                pool.applySettings(settings.getConnectionPoolSettings())
                    // The application's limits apply to the pools of the real servers. This pool
                    // has no limits.
                    .minSize(0)
                    .maxSize(0)
                    .maxConnecting(MAX_CONNECTING))
        .applyToClusterSettings(
            cluster ->
                cluster
                    .mode(ClusterConnectionMode.SINGLE)
                    .hosts(List.of(SingleServer.address(face.identity().advertised())))
                    .serverSelectionTimeout(
                        settings
                            .getClusterSettings()
                            .getServerSelectionTimeout(TimeUnit.MILLISECONDS),
                        TimeUnit.MILLISECONDS))
        .inetAddressResolver(host -> List.of(InetAddress.getLoopbackAddress()));
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
}
