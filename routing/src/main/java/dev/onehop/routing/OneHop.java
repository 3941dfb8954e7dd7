package dev.onehop.routing;

import com.mongodb.ConnectionString;
import com.mongodb.MongoClientSettings;
import com.mongodb.MongoDriverInformation;
import com.mongodb.MongoInterruptedException;
import com.mongodb.MongoNamespace;
import com.mongodb.UnixServerAddress;
import com.mongodb.client.model.WriteModel;
import com.mongodb.connection.ClusterConnectionMode;
import com.mongodb.connection.ClusterSettings;
import com.mongodb.connection.NettyTransportSettings;
import com.mongodb.connection.TransportSettings;
import dev.onehop.routing.internal.affinity.ClusterWatch;
import dev.onehop.routing.internal.direct.DirectMode;
import dev.onehop.routing.internal.metrics.AffinityMetrics;
import dev.onehop.routing.internal.metrics.CommandMeter;
import dev.onehop.routing.internal.metrics.TableMetrics;
import dev.onehop.routing.internal.router.Explanations;
import dev.onehop.routing.internal.router.RouterClients;
import dev.onehop.routing.internal.targeted.TargetedMode;
import dev.onehop.routing.observation.RouteExplanation;
import dev.onehop.routing.observation.RouterStatus;
import dev.onehop.routing.observation.RoutingMeters;
import dev.onehop.routing.observation.RoutingObservationContext;
import dev.onehop.routing.transport.PipeliningMeters;
import dev.onehop.routing.transport.PipeliningSettings;
import dev.onehop.shards.cluster.Versions;
import dev.onehop.wire.ServerAddressName;
import dev.onehop.wire.channel.EventLoops;
import dev.onehop.wire.connection.WireSettings;
import dev.onehop.wire.driver.Carrier;
import dev.onehop.wire.driver.Reach;
import dev.onehop.wire.watch.InternalSettings;
import dev.onehop.wire.watch.PreferredZones;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.composite.CompositeMeterRegistry;
import io.micrometer.observation.ObservationRegistry;
import java.io.Closeable;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Properties;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.bson.conversions.Bson;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.Exceptions;
import reactor.core.publisher.Mono;

/**
 * A router below the official drivers. It sends each operation with a shard key to the mongos near
 * the owning shard, or to the shard itself. Several clients can share one router.
 *
 * <pre>{@code
 * OneHop router = OneHop.builder("mongodb://mongos1,mongos2/").meterRegistry(registry).build();
 * MongoClient reactive = MongoClients.create(router.clientSettings());
 * com.mongodb.client.MongoClient sync = com.mongodb.client.MongoClients.create(router.syncClientSettings());
 * }</pre>
 *
 * <p>The application chooses its driver: the synchronous one, a reactive one, or both.
 *
 * <p>The URI names one or more mongoses. The router finds further mongoses in {@code
 * config.mongos}. An operation without a single owner goes to the mongos that the official client
 * would choose.
 *
 * <p>A stale routing table never gives a wrong result, although an operation may then go to the
 * wrong server. A wrong mongos sends the operation on to the right shard. A wrong shard refuses it,
 * and the router sends it again by a newer table.
 *
 * <p>The user needs the right to read {@code config.shards}, {@code config.mongos}, {@code
 * config.databases}, {@code config.collections} and {@code config.chunks}. Without this right the
 * router routes no operation.
 *
 * <p>Thread-safe.
 */
public final class OneHop implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(OneHop.class);

  /** The longest timeout that Reactor accepts. A longer timeout is replaced by it. */
  private static final Duration LONGEST = Duration.ofNanos(Long.MAX_VALUE);

  private final MongoClientSettings given;

  /** Null if clients use the driver's own transport. */
  private final @Nullable RouterClients clients;

  /** The same object as {@link #clients}; null if nothing is routed. */
  private final @Nullable RouterClients router;

  /** The reason why nothing is routed; null if operations are routed. */
  private final @Nullable String unrouted;

  private OneHop(
      MongoClientSettings given, @Nullable RouterClients clients, @Nullable String unrouted) {
    this.given = given;
    this.clients = clients;
    this.router = unrouted == null ? clients : null;
    this.unrouted = unrouted;
  }

  /**
   * The settings of a client on this router, for the reactive, the Kotlin coroutine and the Scala
   * driver. They include the settings of the builder. The application creates the client, and
   * closes the client before the router.
   *
   * <p>The settings name one server, {@code onehop-targeted} or {@code onehop-direct}, which is the
   * router in this process. Events of commands and connection pools name this server. Events of
   * clusters and servers also name the real servers.
   */
  public MongoClientSettings clientSettings() {
    return clients == null ? given : clients.reactiveSettings();
  }

  /**
   * The settings of a synchronous client on this router, for {@code
   * com.mongodb.client.MongoClients.create}. The application's threads do the work: they write to
   * the server's socket and read from it. The application creates the client, and closes the client
   * before the router.
   *
   * <p>The settings contain an {@code SSLContext} of the router. Its sockets connect to the router
   * in this process and encrypt nothing. TLS to the servers is configured on the builder.
   */
  public MongoClientSettings syncClientSettings() {
    return clients == null ? given : clients.syncSettings();
  }

  /** The current state of the router: shards, routing tables, missing information. Never blocks. */
  public RouterStatus status() {
    return router == null
        ? new RouterStatus(
            RouterStatus.NONE,
            false,
            null,
            Map.of(),
            Map.of(),
            List.of("nothing is routed: " + unrouted))
        : router.status();
  }

  /**
   * Blocks until operations can be routed. Readiness probes and rolling restarts can use it.
   *
   * @param timeout the longest wait; with zero or less the method does not wait
   * @param namespaces collections, as {@code database.collection}, whose routing tables have to be
   *     loaded
   * @return the status after the wait; {@link RouterStatus#missing} lists the information that is
   *     still missing. The method does not wait for a database that does not exist, or for a closed
   *     router
   * @throws IllegalArgumentException if a namespace is malformed
   */
  public RouterStatus ready(Duration timeout, String... namespaces) {
    List<String> tables = List.of(namespaces);
    tables.forEach(OneHop::checkNamespace);
    if (router == null) {
      return status();
    }
    List<String> lastFailure = new CopyOnWriteArrayList<>();
    await(
        router
            .ready(
                tables,
                why -> {
                  lastFailure.clear();
                  lastFailure.add(String.valueOf(why.getMessage()));
                })
            .timeout(timeout.compareTo(LONGEST) < 0 ? timeout : LONGEST, Mono.empty())
            .onErrorComplete());
    return router.status().with(tables, lastFailure);
  }

  /**
   * Turns the routing of new operations off or on. While routing is off, each new operation goes to
   * the nearest mongos of the URI, as the driver alone would send it. Open transactions and cursors
   * stay at their servers. Routing is on by default. {@link OneHopProperty#ENABLED} turns OneHop
   * off for the whole life of the router.
   *
   * @throws IllegalStateException if nothing is routed, the URI names no mongos, or the router is
   *     closed
   */
  public void setRouting(boolean on) {
    if (router == null) {
      throw new IllegalStateException("nothing is routed: " + unrouted);
    }
    router.setRouting(on);
  }

  /** Closes the router. Operations of clients that are still open fail. */
  @Override
  public void close() {
    if (clients != null) {
      clients.close();
    }
  }

  private MongoClientSettings closing(MongoClientSettings settings) {
    return clients == null ? settings : clients.closing(settings);
  }

  /**
   * Creates a builder from a connection string. Targeted mode routes nothing with {@code
   * directConnection=true}, {@code loadBalanced=true}, {@code replicaSet} or Unix domain sockets.
   * Clients then use the driver's own transport, and one log line reports the reason.
   *
   * @param uri a URI that begins with {@code mongodb://} or {@code mongodb+srv://}. It may contain
   *     the driver's options and the options of {@link OneHopProperty}
   * @throws IllegalArgumentException if the URI is malformed
   */
  public static Builder builder(String uri) {
    PropertySources.Parsed parsed = PropertySources.parse(uri);
    ConnectionString given = new ConnectionString(parsed.uri());
    return new Builder(
        MongoClientSettings.builder().applyConnectionString(given),
        Boolean.TRUE.equals(given.isDirectConnection()),
        parsed.options());
  }

  /**
   * Creates a builder from the driver's settings, like {@link #builder(String)}. In the driver's
   * settings, {@code directConnection=true} looks the same as a URI with a single server. In
   * settings this option therefore does not turn routing off. {@link OneHopProperty#ENABLED} does.
   */
  public static Builder builder(MongoClientSettings settings) {
    return new Builder(MongoClientSettings.builder(settings), false, Map.of());
  }

  /**
   * Explains where a read would go, without executing it. (The servers of an executed operation are
   * in {@link RoutingObservationContext#servers}.) Blocks until the cluster is known, at most for
   * the driver's server selection timeout.
   *
   * @param namespace {@code database.collection}
   * @param filter the filter of the read; the client's settings determine the read preference
   * @throws IllegalArgumentException if the namespace is malformed
   * @throws IllegalStateException if the router is closed
   * @throws com.mongodb.MongoException if no server answers in time
   */
  public RouteExplanation explain(String namespace, Bson filter) {
    return await(Mono.from(explainAsync(namespace, filter))).orElseThrow();
  }

  /**
   * Explains where a write would go, without executing it. A document to insert gets an {@code _id}
   * if it has none. Blocks as {@link #explain(String, Bson)} does.
   *
   * @param namespace {@code database.collection}
   * @param write a write model of any kind
   * @throws IllegalArgumentException if the namespace is malformed
   * @throws IllegalStateException if the router is closed
   * @throws com.mongodb.MongoException if no server answers in time
   */
  public RouteExplanation explain(String namespace, WriteModel<?> write) {
    return await(Mono.from(explainAsync(namespace, write))).orElseThrow();
  }

  /**
   * Does the same as {@link #explain(String, Bson)}. Returns a cold publisher of one explanation.
   */
  public Publisher<RouteExplanation> explainAsync(String namespace, Bson filter) {
    Objects.requireNonNull(filter, "filter");
    return explained(namespace, explanations -> explanations.read(namespace, filter));
  }

  /**
   * Does the same as {@link #explain(String, WriteModel)}. Returns a cold publisher of one
   * explanation.
   */
  public Publisher<RouteExplanation> explainAsync(String namespace, WriteModel<?> write) {
    Objects.requireNonNull(write, "write");
    return explained(namespace, explanations -> explanations.write(namespace, write));
  }

  private Mono<RouteExplanation> explained(
      String namespace, Function<Explanations, Mono<RouteExplanation>> explaining) {
    checkNamespace(namespace);
    return router == null
        ? Mono.just(RouteExplanation.ofNone(namespace, "nothing is routed: " + unrouted))
        : explaining.apply(router.explanations());
  }

  private static void checkNamespace(String namespace) {
    MongoNamespace.checkCollectionNameValidity(new MongoNamespace(namespace).getCollectionName());
  }

  private static <T> Optional<T> await(Mono<T> answer) {
    try {
      return answer.blockOptional();
    } catch (RuntimeException failure) {
      if (Exceptions.unwrap(failure) instanceof InterruptedException interrupt) {
        Thread.currentThread().interrupt();
        throw new MongoInterruptedException("interrupted while waiting for the cluster", interrupt);
      }
      throw failure;
    }
  }

  /** Builds a router. Not thread-safe. */
  public static final class Builder {
    private final MongoClientSettings.Builder settings;
    private final boolean directConnection;
    private final PropertySources sources;
    private final Map<String, List<ServerAddressName>> routers = new HashMap<>();
    private MeterRegistry registry = new CompositeMeterRegistry();
    private ObservationRegistry observations = ObservationRegistry.NOOP;
    private @Nullable PipeliningSettings pipeliningSettings;
    private RoutingMode mode = RoutingMode.TARGETED;

    private Builder(
        MongoClientSettings.Builder settings,
        boolean directConnection,
        Map<OneHopProperty, String> uriOptions) {
      this.settings = settings;
      this.directConnection = directConnection;
      this.sources = new PropertySources(uriOptions, System.getProperties());
    }

    /**
     * Sets properties of {@link OneHopProperty}. Values of this builder and of the URI have
     * precedence. Names without the prefix {@code onehop.} are ignored.
     *
     * @throws IllegalArgumentException if a name has the prefix and is unknown
     */
    public Builder properties(Properties properties) {
      sources.properties(properties);
      return this;
    }

    /**
     * Changes the driver's own settings, which apply to every connection: credentials, TLS, pools,
     * codecs, listeners. The router replaces the transport settings with its own. {@link #build}
     * refuses transport settings with a Netty {@code SslContext}.
     */
    public Builder applyToClientSettings(Consumer<MongoClientSettings.Builder> change) {
      Objects.requireNonNull(change, "change").accept(settings);
      return this;
    }

    /**
     * Sets the registry for the meters of {@link RoutingMeters} and {@link PipeliningMeters}.
     * Without a registry, nothing is measured.
     */
    public Builder meterRegistry(MeterRegistry meterRegistry) {
      this.registry = Objects.requireNonNull(meterRegistry, "meterRegistry");
      return this;
    }

    /**
     * Sets the registry for observations, for tracing; see {@link RoutingObservationContext}. By
     * default operations are not observed, which costs nothing.
     */
    public Builder observationRegistry(ObservationRegistry observationRegistry) {
      this.observations = Objects.requireNonNull(observationRegistry, "observationRegistry");
      return this;
    }

    /**
     * Sets the interval at which the router refreshes the routing tables and the mongoses near
     * shards, in the background; 10 seconds by default. Each single interval is longer or shorter
     * at random, by a quarter at most. While the config servers can be read, operations on a moved
     * range take a detour for at most this time. The detour usually ends much sooner, see {@link
     * #historyInterval}. After a failure the wait before the next attempt grows from a quarter of a
     * second to a minute.
     *
     * <p>In direct mode the router refreshes the list of shards and the cluster's default read and
     * write concerns at this interval. It refreshes a routing table when a shard refuses a command
     * as stale.
     *
     * @throws IllegalArgumentException if the interval is not positive
     */
    public Builder refreshInterval(Duration interval) {
      if (interval.isNegative() || interval.isZero()) {
        throw new IllegalArgumentException("refreshInterval must be positive: " + interval);
      }
      sources.set(Setting.REFRESH_INTERVAL, interval);
      return this;
    }

    /**
     * Sets the interval at which the router reads the latest entries of the cluster's change
     * history, {@code config.changelog}; 2 seconds by default. Each single interval is longer or
     * shorter at random, by a quarter at most. Within this interval the router notices that a range
     * moved, or that a collection was dropped, renamed or resharded. Operations that suddenly take
     * much longer than the round trip to their shard trigger the same read at once.
     *
     * @param interval zero for never
     * @throws IllegalArgumentException if the interval is negative
     */
    public Builder historyInterval(Duration interval) {
      if (interval.isNegative()) {
        throw new IllegalArgumentException("historyInterval must not be negative: " + interval);
      }
      sources.set(Setting.HISTORY_INTERVAL, interval);
      return this;
    }

    /**
     * Sets the mongoses near a shard. Call this method if the host names do not show which mongoses
     * are near, or if the application prefers other mongoses. The mongoses must belong to the
     * cluster, and {@code config.mongos} need not contain them.
     *
     * @param shard the shard's id
     * @param addresses {@code host:port} as this application reaches them, at least one
     * @throws IllegalArgumentException if no address is given or an address is malformed
     */
    public Builder shardRouters(String shard, String... addresses) {
      if (addresses.length == 0) {
        throw new IllegalArgumentException("name a mongos for shard " + shard);
      }
      routers.put(
          Objects.requireNonNull(shard, "shard"),
          Arrays.stream(addresses).map(ServerAddressName::parse).toList());
      return this;
    }

    /**
     * Maps server names of the cluster's metadata to the names under which this application reaches
     * the servers, because of NAT, a private link or Kubernetes. Names in the URI are not mapped.
     * The names of all other mongoses and of the shards' members are mapped, in direct mode also
     * those of the config servers. TLS verifies the mapped names.
     *
     * <p>A mongos is near a shard if a member of the shard has the same host in the metadata. If no
     * mongos has such a host, the router compares the mapped hosts.
     *
     * @param names from {@code host:port} to {@code host:port}, or from {@code host} to {@code
     *     host} for any port; other names stay unchanged
     * @throws IllegalArgumentException if a name is malformed, or only one name of a pair has a
     *     port
     */
    public Builder hostMapping(Map<String, String> names) {
      sources.set(Setting.HOST_MAPPING, Optional.of(Setting.mapping(names)));
      return this;
    }

    /**
     * Like {@link #hostMapping(Map)}, with a function.
     *
     * @param names from {@code host:port} to {@code host:port}; the function is called often and by
     *     any thread; it MUST return the same result for the same name
     */
    public Builder hostMapping(UnaryOperator<String> names) {
      Objects.requireNonNull(names, "names");
      sources.set(
          Setting.HOST_MAPPING,
          Optional.of(name -> ServerAddressName.parse(names.apply(name.toString()))));
      return this;
    }

    /**
     * Sets the zones that this application prefers, in order. Operations without a single owner and
     * reads that any member may serve go to the first of these zones with a live server, regardless
     * of round trips. If no server of a zone is left, the router uses the next zone within 2
     * seconds. When a server of the earlier zone is up again, the router returns to that zone
     * within 10 seconds. Servers outside all zones come last. Applies to all modes, also to {@link
     * RoutingMode#NONE}.
     *
     * <p>Reads that any member may serve have the read preference {@code secondary}, {@code
     * secondaryPreferred} or {@code nearest}, with or without tags. These reads go to a server that
     * depends on the mode:
     *
     * <ul>
     *   <li>In targeted mode, they go to a mongos of the zone. This mongos chooses the member by
     *       its own round trips, without regard to zones.
     *   <li>In direct mode, they go to the owning shard's member in the zone, if this member fits
     *       the read preference, its tags and its {@code maxStalenessSeconds}.
     * </ul>
     *
     * <p>Operations for a primary still go to the owner, or to a mongos near the owner. If there
     * are several such mongoses, those of the first zone are used. The URI has to name mongoses of
     * each zone, because operations without an owner go to a mongos of the URI.
     *
     * @param zones the zones, each written {@code host|host} or {@code name=host|host}. Hosts are
     *     named as this application reaches them, with or without a port; {@code *} in a host
     *     stands for any characters
     * @throws IllegalArgumentException if a zone is malformed, or a zone or host is given twice
     */
    public Builder preferredZones(String... zones) {
      sources.set(Setting.PREFERRED_ZONES, PreferredZones.of(Arrays.asList(zones)));
      return this;
    }

    /**
     * Sets whether to measure round trips where host names do not show which mongos is near a
     * shard; true by default. To measure, the router sends a few small reads over every mongos once
     * a minute.
     */
    public Builder measureRoundTrips(boolean measureRoundTrips) {
      sources.set(Setting.MEASURE_ROUND_TRIPS, measureRoundTrips);
      return this;
    }

    /**
     * Sets the target of operations: {@link RoutingMode#TARGETED} by default.
     *
     * <p>{@link RoutingMode#DIRECT} has three conditions:
     *
     * <ul>
     *   <li>The URI names the cluster's mongoses or config servers, from which the router reads the
     *       routing metadata.
     *   <li>The user exists on every shard under the same name, and has the right to read the
     *       database {@code config}.
     *   <li>From MongoDB 8.0 on, the user has the role {@code directShardOperations}.
     * </ul>
     *
     * <p>Direct mode sends every operation that one shard cannot execute alone to a mongos of the
     * URI: reads and writes over several shards, transactions, changes of a shard key, {@code
     * $lookup} and {@code $out}, change streams, DDL. If the URI names config servers, such
     * operations fail. In direct mode, the pool's {@code maxSize} bounds the connections to each
     * shard's server.
     *
     * <p>{@link #shardRouters}, {@link #measureRoundTrips} and {@link #historyInterval} apply to
     * targeted mode only, also as options of the URI.
     */
    public Builder routing(RoutingMode routingMode) {
      this.mode = Objects.requireNonNull(routingMode, "routingMode");
      return this;
    }

    /**
     * Keeps many requests in flight on few sockets; see {@link PipeliningSettings} for benefits and
     * costs. Off by default. With {@link RoutingMode#NONE} the router pipelines and does nothing
     * else.
     */
    public Builder pipelining(Consumer<PipeliningSettings.Builder> change) {
      PipeliningSettings.Builder pipelining = PipeliningSettings.builder();
      change.accept(pipelining);
      this.pipeliningSettings = pipelining.build();
      return this;
    }

    /**
     * Creates a router for one or more clients. It connects in the background. The caller closes
     * it.
     *
     * @throws IllegalArgumentException if a property has a bad value, which the message names, or
     *     the settings don't fit the mode
     * @throws IllegalStateException if a library is missing on the class path, is too old, or is
     *     there in two versions; the message names the remedy
     */
    public OneHop build() {
      Dependencies.check();
      MongoClientSettings given = settings.build();
      Setting.ALL.forEach(sources::get);
      if (!sources.get(Setting.ENABLED)) {
        return disabled(given);
      }
      if (mode == RoutingMode.DIRECT) {
        return new OneHop(given, direct(given), null);
      }
      String reason = mode == RoutingMode.NONE ? null : passedThrough(given);
      if (mode == RoutingMode.TARGETED && reason == null) {
        return new OneHop(given, targeted(given), null);
      }
      if (mode == RoutingMode.NONE || pipeliningSettings != null) {
        if (reason != null) {
          log.warn("nothing is routed: {}", reason);
        }
        return new OneHop(
            given, unrouted(given), reason == null ? "the routing mode is NONE" : reason);
      }
      log.warn("nothing is routed, and the application gets the driver's own clients: {}", reason);
      return new OneHop(given, null, reason);
    }

    /**
     * Creates a client with a router that only this client uses. The router connects in the
     * background and is closed with the client. The caller closes the client.
     *
     * @param type {@code com.mongodb.client.MongoClient} for the synchronous driver, {@code
     *     com.mongodb.reactivestreams.client.MongoClient} for the reactive one
     * @throws IllegalArgumentException if the type is another class, a property has a bad value,
     *     which the message names, or the settings don't fit the mode
     * @throws IllegalStateException as {@link #build} does
     */
    public <C extends Closeable> C client(Class<C> type) {
      BiFunction<MongoClientSettings, MongoDriverInformation, Closeable> create;
      Function<OneHop, MongoClientSettings> of;
      switch (type.getName()) {
        case "com.mongodb.client.MongoClient" -> {
          create = com.mongodb.client.MongoClients::create;
          of = OneHop::syncClientSettings;
        }
        case "com.mongodb.reactivestreams.client.MongoClient" -> {
          create = com.mongodb.reactivestreams.client.MongoClients::create;
          of = OneHop::clientSettings;
        }
        default ->
            throw new IllegalArgumentException("not a driver's MongoClient: " + type.getName());
      }
      OneHop router = build();
      try {
        return type.cast(
            create.apply(router.closing(of.apply(router)), InternalSettings.OURSELVES));
      } catch (LinkageError failure) {
        router.close();
        throw new IllegalStateException(
            type.getName()
                + " does not fit mongodb-driver-core on the class path: import mongodb-driver-bom"
                + " to have one version",
            failure);
      } catch (RuntimeException failure) {
        router.close();
        throw failure;
      }
    }

    private OneHop disabled(MongoClientSettings given) {
      String key = OneHopProperty.ENABLED.key() + "=false";
      if (mode == RoutingMode.DIRECT
          && given.getClusterSettings().getRequiredReplicaSetName() != null) {
        throw new IllegalArgumentException(
            key + " needs a URI that names mongoses: replicaSet names the config servers");
      }
      log.info("nothing is routed, and the application gets the driver's own clients: {}", key);
      return new OneHop(given, null, key);
    }

    /** The reason why targeted mode routes nothing; null if it routes operations. */
    private @Nullable String passedThrough(MongoClientSettings given) {
      ClusterSettings cluster = given.getClusterSettings();
      if (directConnection) {
        return "directConnection=true makes the driver use one server only";
      }
      if (cluster.getMode() == ClusterConnectionMode.LOAD_BALANCED) {
        return "loadBalanced=true hides the mongoses behind a load balancer";
      }
      if (cluster.getRequiredReplicaSetName() != null) {
        return "replicaSet=" + cluster.getRequiredReplicaSetName() + " names a replica set";
      }
      return namesUnixSockets(given) ? "OneHop does not connect to Unix domain sockets" : null;
    }

    private RouterClients direct(MongoClientSettings given) {
      replaceTransport(given);
      refuseWhatIsForTargetedMode();
      refuseWhatDirectModeCannot(given);
      if (directConnection) {
        throw new IllegalArgumentException(
            "direct mode connects to every shard: remove directConnection=true from the URI");
      }
      return DirectMode.create(
          reach(given),
          Versions.ATTACHED,
          new DirectMode.Options(
              sources.get(Setting.REFRESH_INTERVAL),
              sources.get(Setting.HOST_MAPPING).orElse(null),
              sources.get(Setting.PREFERRED_ZONES),
              new TableMetrics(registry),
              CommandMeter.direct(registry, observations)));
    }

    private Reach reach(MongoClientSettings given) {
      WireSettings.Sharing sharing =
          pipeliningSettings == null
              ? null
              : new WireSettings.Sharing(
                  pipeliningSettings.socketsPerServer(),
                  pipeliningSettings.maxInFlightPerSocket(),
                  pipeliningSettings.maxSharedBytes(),
                  registry);
      // A single event loop reads all shared sockets, so replies that arrive together reach their
      // callers together.
      Carrier carrier =
          Carrier.ofCallers(
              sharing == null ? Runtime.getRuntime().availableProcessors() : 1, sharing);
      return Reach.of(given, carrier, () -> EventLoops.shutDown(carrier.group()));
    }

    private void replaceTransport(MongoClientSettings given) {
      TransportSettings transport = given.getTransportSettings();
      if (transport instanceof NettyTransportSettings netty && netty.getSslContext() != null) {
        throw new IllegalArgumentException(
            modeName()
                + " mode replaces the transport, so the SslContext of NettyTransportSettings would"
                + " have no effect: set an SSLContext with applyToSslSettings");
      }
      if (transport != null) {
        log.info(
            "{} mode replaces the transport {} with OneHop's transport",
            modeName(),
            transport.getClass().getSimpleName());
      }
    }

    private String modeName() {
      return mode.name().toLowerCase(Locale.ROOT);
    }

    private void refuseWhatIsForTargetedMode() {
      String useless =
          Stream.of(Setting.SHARD_ROUTERS, Setting.MEASURE_ROUND_TRIPS, Setting.HISTORY_INTERVAL)
              .filter(
                  each ->
                      sources.isGiven(each)
                          || (each.equals(Setting.SHARD_ROUTERS) && !routers.isEmpty()))
              .map(each -> each.property().key().substring(PropertySources.PREFIX.length()))
              .collect(Collectors.joining(", "));
      if (!useless.isEmpty()) {
        throw new IllegalArgumentException(
            useless
                + " can be set in targeted mode only, because direct mode sends operations to the"
                + " shards themselves");
      }
    }

    private static void refuseWhatDirectModeCannot(MongoClientSettings given) {
      if (namesUnixSockets(given)) {
        throw new IllegalArgumentException("direct mode needs host names, not Unix domain sockets");
      }
      if (given.getClusterSettings().getMode() == ClusterConnectionMode.LOAD_BALANCED) {
        throw new IllegalArgumentException(
            "direct mode can't use a load balancer: remove loadBalanced=true, and name mongoses");
      }
    }

    private RouterClients targeted(MongoClientSettings given) {
      replaceTransport(given);
      Map<String, List<ServerAddressName>> shardRouters =
          new HashMap<>(sources.get(Setting.SHARD_ROUTERS));
      shardRouters.putAll(routers);
      return TargetedMode.create(
          reach(given),
          new TargetedMode.Options(
              new ClusterWatch.Settings(
                  sources.get(Setting.REFRESH_INTERVAL),
                  sources.get(Setting.HISTORY_INTERVAL),
                  sources.get(Setting.MEASURE_ROUND_TRIPS),
                  shardRouters,
                  sources.get(Setting.HOST_MAPPING).orElse(UnaryOperator.identity())),
              sources.get(Setting.PREFERRED_ZONES),
              new TableMetrics(registry),
              new AffinityMetrics(registry)::accept,
              new CommandMeter(registry, observations, modeName())));
    }

    /** Creates clients whose commands go to the server that the official client would choose. */
    private RouterClients unrouted(MongoClientSettings given) {
      replaceTransport(given);
      if (given.getClusterSettings().getMode() == ClusterConnectionMode.LOAD_BALANCED) {
        throw new IllegalArgumentException(
            "pipelining is not possible with loadBalanced=true, because each connection of a load"
                + " balancer may lead to another mongos: turn pipelining off");
      }
      if (namesUnixSockets(given)) {
        throw new IllegalArgumentException("pipelining needs host names, not Unix domain sockets");
      }
      return TargetedMode.unrouted(
          reach(given),
          sources.get(Setting.PREFERRED_ZONES),
          new CommandMeter(registry, observations, modeName()));
    }

    private static boolean namesUnixSockets(MongoClientSettings given) {
      return given.getClusterSettings().getHosts().stream()
          .anyMatch(host -> host instanceof UnixServerAddress);
    }
  }
}
