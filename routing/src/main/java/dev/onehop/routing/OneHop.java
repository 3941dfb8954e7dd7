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
 * A router: it sends each operation that a shard key decides to where the owning shard is. Clients
 * of the official drivers work on it, several if need be.
 *
 * <pre>{@code
 * OneHop router = OneHop.builder("mongodb://mongos1,mongos2/").meterRegistry(registry).build();
 * MongoClient reactive = MongoClients.create(router.clientSettings());
 * com.mongodb.client.MongoClient sync = com.mongodb.client.MongoClients.create(router.syncClientSettings());
 * }</pre>
 *
 * <p>The application chooses its driver: the synchronous one, a reactive one, or both.
 *
 * <p>The URI names one or more mongoses; the others are found in {@code config.mongos}. Anything
 * that can't be decided goes to the mongos that the official client would choose, so a wrong or old
 * routing table costs a detour and never a wrong answer. The user needs the right to read {@code
 * config.shards}, {@code config.mongos}, {@code config.databases}, {@code config.collections} and
 * {@code config.chunks}; without it, nothing is routed.
 *
 * <p>Thread-safe.
 */
public final class OneHop implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(OneHop.class);

  /** What Reactor can wait. */
  private static final Duration LONGEST = Duration.ofNanos(Long.MAX_VALUE);

  private final MongoClientSettings asked;

  /** Null if clients are the driver's own. */
  private final @Nullable RouterClients clients;

  /** The same; null if nothing is routed. */
  private final @Nullable RouterClients router;

  /** Why nothing is routed; null if something is. */
  private final @Nullable String unrouted;

  private OneHop(
      MongoClientSettings asked, @Nullable RouterClients clients, @Nullable String unrouted) {
    this.asked = asked;
    this.clients = clients;
    this.router = unrouted == null ? clients : null;
    this.unrouted = unrouted;
  }

  /**
   * The settings of a client on this router, for the reactive, the Kotlin coroutine and the Scala
   * driver. They hold what was set on the builder. The application creates the client and closes
   * it, before the router.
   *
   * <p>They name one server, {@code onehop-targeted} or {@code onehop-direct}, which is the router
   * in this process. Events of commands and connection pools name that one; events of clusters and
   * servers name the real servers, too.
   */
  public MongoClientSettings clientSettings() {
    return clients == null ? asked : clients.reactiveSettings();
  }

  /**
   * The settings of a synchronous client on this router, for {@code
   * com.mongodb.client.MongoClients.create}. Its threads do the work themselves: they write to the
   * shard's socket and read from it. The application creates the client and closes it, before the
   * router.
   *
   * <p>They have an {@code SSLContext} of ours, whose sockets lead to the router within the
   * process. TLS to the servers is as it was set on the builder.
   */
  public MongoClientSettings syncClientSettings() {
    return clients == null ? asked : clients.syncSettings();
  }

  /** What the router knows of its cluster now. Never blocks. */
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
   * Waits until operations can be routed: for readiness probes, and before a rolling restart goes
   * on. Blocks.
   *
   * @param timeout how long to wait at most; not at all if it is zero or less
   * @param namespaces collections, as {@code database.collection}, whose routing tables are loaded
   *     first
   * @return what is known then; {@link RouterStatus#missing} has what is still missing. It returns
   *     at once if a database does not exist, or the router is closed
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
   * Turns routing of new operations off, or on again. While it is off, each new operation goes to
   * the nearest mongos of the URI, as with the plain driver; transactions and cursors that are open
   * stay where they are. Routing is on at first. {@link OneHopProperty#ENABLED} turns it off at the
   * start.
   *
   * @throws IllegalStateException if the router cannot do it: nothing is routed, the URI names no
   *     mongos, or the router is closed
   */
  public void setRouting(boolean on) {
    if (router == null) {
      throw new IllegalStateException("nothing is routed: " + unrouted);
    }
    router.setRouting(on);
  }

  /** Ends the router. Operations of clients that are still open fail. */
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
   * Starts from a connection string with its usual options. In targeted mode nothing is routed with
   * {@code directConnection=true}, {@code loadBalanced=true}, {@code replicaSet} or Unix domain
   * sockets: settings and clients are then the driver's own, and the log says so once.
   *
   * @param uri {@code mongodb://} or {@code mongodb+srv://}, also with the options of {@link
   *     OneHopProperty}
   * @throws IllegalArgumentException if it is malformed
   */
  public static Builder builder(String uri) {
    PropertySources.Parsed parsed = PropertySources.parse(uri);
    ConnectionString asked = new ConnectionString(parsed.uri());
    return new Builder(
        MongoClientSettings.builder().applyConnectionString(asked),
        Boolean.TRUE.equals(asked.isDirectConnection()),
        parsed.options());
  }

  /**
   * Starts from settings, where an application has them already. The same as {@link
   * #builder(String)}, but {@code directConnection=true} cannot be told from the address of a
   * single server: {@link OneHopProperty#ENABLED} turns routing off.
   */
  public static Builder builder(MongoClientSettings settings) {
    return new Builder(MongoClientSettings.builder(settings), false, Map.of());
  }

  /**
   * Explains where a read would go, before it runs. {@link RoutingObservationContext#servers} has
   * the servers that an operation went to. Blocks until the cluster is known, for the driver's
   * server selection timeout at most.
   *
   * @param namespace {@code database.collection}
   * @param filter of the read, which has the read preference of the client's settings
   * @throws IllegalArgumentException if the namespace is malformed
   * @throws IllegalStateException if the router is closed
   * @throws com.mongodb.MongoException if no server answers in time
   */
  public RouteExplanation explain(String namespace, Bson filter) {
    return await(Mono.from(explainAsync(namespace, filter))).orElseThrow();
  }

  /**
   * Explains where a write would go, before it runs. Nothing is written, but a document to insert
   * that has no {@code _id} gets one. Blocks as {@link #explain(String, Bson)} does.
   *
   * @param namespace {@code database.collection}
   * @param write one write of any kind
   * @throws IllegalArgumentException if the namespace is malformed
   * @throws IllegalStateException if the router is closed
   * @throws com.mongodb.MongoException if no server answers in time
   */
  public RouteExplanation explain(String namespace, WriteModel<?> write) {
    return await(Mono.from(explainAsync(namespace, write))).orElseThrow();
  }

  /** The same as {@link #explain(String, Bson)} as a cold publisher of one explanation. */
  public Publisher<RouteExplanation> explainAsync(String namespace, Bson filter) {
    Objects.requireNonNull(filter, "filter");
    return explained(namespace, explanations -> explanations.read(namespace, filter));
  }

  /** The same as {@link #explain(String, WriteModel)} as a cold publisher of one explanation. */
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

  /** Collects what a router is made of. Not thread-safe. */
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
     * Takes the settings of {@link OneHopProperty} from here, where neither this builder nor the
     * URI has them. Names without the prefix {@code onehop.} are passed over.
     *
     * @throws IllegalArgumentException if a name has the prefix and is unknown
     */
    public Builder properties(Properties properties) {
      sources.properties(properties);
      return this;
    }

    /**
     * Changes the driver's own settings, which hold for every connection: credentials, TLS, pools,
     * codecs, listeners. The router brings a transport of its own in place of any that is set here,
     * and refuses one with TLS settings of Netty's.
     */
    public Builder applyToClientSettings(Consumer<MongoClientSettings.Builder> change) {
      Objects.requireNonNull(change, "change").accept(settings);
      return this;
    }

    /**
     * Where the meters of {@link RoutingMeters} and {@link PipeliningMeters} are registered; by
     * default nowhere.
     */
    public Builder meterRegistry(MeterRegistry meterRegistry) {
      this.registry = Objects.requireNonNull(meterRegistry, "meterRegistry");
      return this;
    }

    /**
     * Where operations are observed, for tracing, as {@link RoutingObservationContext} describes.
     * By default they aren't, and cost nothing for it.
     */
    public Builder observationRegistry(ObservationRegistry observationRegistry) {
      this.observations = Objects.requireNonNull(observationRegistry, "observationRegistry");
      return this;
    }

    /**
     * How often routing tables and the mongoses beside shards are read again in the background,
     * give or take a quarter; 10 seconds by default. A range that moved is served over a detour for
     * that long at the most, as long as the config servers can be read; mostly much shorter, see
     * {@link #historyInterval}. After a failure the next attempt waits, from a quarter of a second
     * up to a minute. In direct mode the shards and the cluster's default concerns are read that
     * often, and a routing table when a shard refuses it as stale.
     *
     * @throws IllegalArgumentException if it is not positive
     */
    public Builder refreshInterval(Duration interval) {
      if (interval.isNegative() || interval.isZero()) {
        throw new IllegalArgumentException("refreshInterval must be positive: " + interval);
      }
      sources.set(Setting.REFRESH_INTERVAL, interval);
      return this;
    }

    /**
     * How often the end of the cluster's change history is read, give or take a quarter; 2 seconds
     * by default. A range that moved, and a collection that was dropped, renamed or resharded, is
     * noticed that soon. Operations that suddenly take much longer than their shard is away have
     * the same effect at once.
     *
     * @param interval zero for never
     * @throws IllegalArgumentException if it is negative
     */
    public Builder historyInterval(Duration interval) {
      if (interval.isNegative()) {
        throw new IllegalArgumentException("historyInterval must not be negative: " + interval);
      }
      sources.set(Setting.HISTORY_INTERVAL, interval);
      return this;
    }

    /**
     * The mongoses beside a shard, where their names don't tell or something else is wanted. They
     * need not be in {@code config.mongos}, but must belong to the cluster.
     *
     * @param shard the shard's id
     * @param addresses {@code host:port} as this application reaches them, at least one
     * @throws IllegalArgumentException if there is none or one is malformed
     */
    public Builder shardRouters(String shard, String... addresses) {
      if (addresses.length == 0) {
        throw new IllegalArgumentException("no mongos for shard " + shard);
      }
      routers.put(
          Objects.requireNonNull(shard, "shard"),
          Arrays.stream(addresses).map(ServerAddressName::parse).toList());
      return this;
    }

    /**
     * The names under which this application reaches the servers that the cluster's metadata names
     * otherwise, because of NAT, a private link or Kubernetes. Applied to every mongos and every
     * shard's member that is discovered, in direct mode also to the config servers; TLS then
     * verifies the names used here. What the URI names stays as it is. A mongos stands beside a
     * shard whose member has the same host in the metadata; where no mongos has, one that has the
     * same host here.
     *
     * @param names from {@code host:port} to {@code host:port}, or from {@code host} to {@code
     *     host} whatever the port is; what is not named stays as it is
     * @throws IllegalArgumentException if a name is malformed, or one of a pair alone has a port
     */
    public Builder hostMapping(Map<String, String> names) {
      sources.set(Setting.HOST_MAPPING, Optional.of(Setting.mapping(names)));
      return this;
    }

    /**
     * The same by a function.
     *
     * @param names from {@code host:port} to {@code host:port}; called often and by any thread;
     *     MUST give the same name for the same name
     */
    public Builder hostMapping(UnaryOperator<String> names) {
      Objects.requireNonNull(names, "names");
      sources.set(
          Setting.HOST_MAPPING,
          Optional.of(name -> ServerAddressName.parse(names.apply(name.toString()))));
      return this;
    }

    /**
     * The zones that this application prefers, in order: every operation that no shard's owner
     * decides, and every read that any member may serve, goes to the first of these zones with a
     * live server, regardless of round trips. If its last server fails, the next zone serves within
     * 2 seconds, and when one is back, the zone serves again within 10 seconds. Servers of no zone
     * come last. For all modes, also {@link RoutingMode#NONE}.
     *
     * <p>Such reads are those with {@code secondary}, {@code secondaryPreferred} or {@code
     * nearest}, with or without tags. In targeted mode they go to the zone's mongos, which picks a
     * member by its own round trips; in direct mode to the owner's member in the zone, if it fits
     * the read preference, its tags and the staleness. Reads and writes of primaries go to the
     * owner as without zones; of several mongoses beside it, those of the first zone are taken.
     * Where operations go to the nearest mongos, the URI has to name mongoses of each zone.
     *
     * @param zones each {@code host|host} or {@code name=host|host}, as this application reaches
     *     them, with or without a port; {@code *} in a host stands for any characters
     * @throws IllegalArgumentException if one is malformed, or a zone or host is given twice
     */
    public Builder preferredZones(String... zones) {
      sources.set(Setting.PREFERRED_ZONES, PreferredZones.of(Arrays.asList(zones)));
      return this;
    }

    /**
     * Whether round trips are measured where names don't tell which mongos is beside a shard; true
     * by default. It takes some small reads over every mongos, each once a minute.
     */
    public Builder measureRoundTrips(boolean measureRoundTrips) {
      sources.set(Setting.MEASURE_ROUND_TRIPS, measureRoundTrips);
      return this;
    }

    /**
     * Where operations go: {@link RoutingMode#TARGETED} by default.
     *
     * <p>{@link RoutingMode#DIRECT} needs the URI of the cluster's mongoses or config servers, from
     * which it reads the routing metadata, a user that exists on every shard under the same name
     * and may read the database {@code config}, and from 8.0 the role {@code
     * directShardOperations}. What one shard does not own (reads and writes over several shards,
     * transactions, changes of a shard key, {@code $lookup} and {@code $out}, change streams, DDL)
     * it hands to a mongos of the URI; if the URI names config servers, such operations fail. The
     * pool's {@code maxSize} then bounds the connections to each shard's server.
     *
     * <p>{@link #shardRouters}, {@link #measureRoundTrips} and {@link #historyInterval} are for
     * targeted mode only, also as options of the URI.
     */
    public Builder routing(RoutingMode routingMode) {
      this.mode = Objects.requireNonNull(routingMode, "routingMode");
      return this;
    }

    /**
     * Keeps many requests in flight on few sockets; see {@link PipeliningSettings} for what that is
     * good for, and what it costs. Off by default. With {@link RoutingMode#NONE}, that is all that
     * is done.
     */
    public Builder pipelining(Consumer<PipeliningSettings.Builder> change) {
      PipeliningSettings.Builder pipelining = PipeliningSettings.builder();
      change.accept(pipelining);
      this.pipeliningSettings = pipelining.build();
      return this;
    }

    /**
     * Creates a router for one or more clients, which connects in the background. The caller closes
     * it.
     *
     * @throws IllegalArgumentException if a property has a bad value, which the message names, or
     *     the settings don't fit the mode
     * @throws IllegalStateException if a library on the class path is absent, too old, or of two
     *     versions; the message names the remedy
     */
    public OneHop build() {
      Dependencies.check();
      MongoClientSettings asked = settings.build();
      Setting.ALL.forEach(sources::get);
      if (!sources.get(Setting.ENABLED)) {
        return disabled(asked);
      }
      if (mode == RoutingMode.DIRECT) {
        return new OneHop(asked, direct(asked), null);
      }
      String reason = mode == RoutingMode.NONE ? null : passedThrough(asked);
      if (mode == RoutingMode.TARGETED && reason == null) {
        return new OneHop(asked, targeted(asked), null);
      }
      if (mode == RoutingMode.NONE || pipeliningSettings != null) {
        if (reason != null) {
          log.warn("nothing is routed: {}", reason);
        }
        return new OneHop(
            asked, unrouted(asked), reason == null ? "the routing mode is NONE" : reason);
      }
      log.warn("nothing is routed, and clients are the driver's own: {}", reason);
      return new OneHop(asked, null, reason);
    }

    /**
     * Creates a client with a router of its own, which connects in the background and is closed
     * with the client. The caller closes the client.
     *
     * @param type {@code com.mongodb.client.MongoClient} for the synchronous driver, {@code
     *     com.mongodb.reactivestreams.client.MongoClient} for the reactive one
     * @throws IllegalArgumentException if the type is another one, a property has a bad value,
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
            throw new IllegalArgumentException("not a client of a driver: " + type.getName());
      }
      OneHop router = build();
      try {
        return type.cast(
            create.apply(router.closing(of.apply(router)), InternalSettings.OURSELVES));
      } catch (LinkageError failure) {
        router.close();
        throw new IllegalStateException(
            type.getName()
                + " does not fit mongodb-driver-core on the class path: import mongodb-driver-bom to"
                + " have one version",
            failure);
      } catch (RuntimeException failure) {
        router.close();
        throw failure;
      }
    }

    private OneHop disabled(MongoClientSettings asked) {
      String key = OneHopProperty.ENABLED.key() + "=false";
      if (mode == RoutingMode.DIRECT
          && asked.getClusterSettings().getRequiredReplicaSetName() != null) {
        throw new IllegalArgumentException(
            key + " needs a URI of mongoses, and replicaSet names config servers");
      }
      log.info("nothing is routed, and clients are the driver's own: {}", key);
      return new OneHop(asked, null, key);
    }

    /** Why targeted mode leaves clients as they are; null if it routes. */
    private @Nullable String passedThrough(MongoClientSettings asked) {
      ClusterSettings cluster = asked.getClusterSettings();
      if (directConnection) {
        return "directConnection=true asks for one server only";
      }
      if (cluster.getMode() == ClusterConnectionMode.LOAD_BALANCED) {
        return "loadBalanced=true hides the mongoses behind a load balancer";
      }
      if (cluster.getRequiredReplicaSetName() != null) {
        return "replicaSet=" + cluster.getRequiredReplicaSetName() + " asks for a replica set";
      }
      return namesUnixSockets(asked)
          ? "only the driver itself connects to Unix domain sockets"
          : null;
    }

    private RouterClients direct(MongoClientSettings asked) {
      replaceTransport(asked);
      refuseWhatIsForTargetedMode();
      refuseWhatDirectModeCannot(asked);
      if (directConnection) {
        throw new IllegalArgumentException(
            "direct mode goes to every shard, directConnection=true to one server only");
      }
      return DirectMode.create(
          reach(asked),
          Versions.ATTACHED,
          new DirectMode.Options(
              sources.get(Setting.REFRESH_INTERVAL),
              sources.get(Setting.HOST_MAPPING).orElse(null),
              sources.get(Setting.PREFERRED_ZONES),
              new TableMetrics(registry),
              CommandMeter.direct(registry, observations)));
    }

    private Reach reach(MongoClientSettings asked) {
      WireSettings.Sharing sharing =
          pipeliningSettings == null
              ? null
              : new WireSettings.Sharing(
                  pipeliningSettings.socketsPerServer(),
                  pipeliningSettings.maxInFlightPerSocket(),
                  pipeliningSettings.maxSharedBytes(),
                  registry);
      // Few shared sockets are read by one thread, so that what it reads at once is answered at
      // once.
      Carrier carrier =
          Carrier.ofCallers(
              sharing == null ? Runtime.getRuntime().availableProcessors() : 1, sharing);
      return Reach.of(asked, carrier, () -> EventLoops.shutDown(carrier.group()));
    }

    private void replaceTransport(MongoClientSettings asked) {
      TransportSettings transport = asked.getTransportSettings();
      if (transport instanceof NettyTransportSettings netty && netty.getSslContext() != null) {
        throw new IllegalArgumentException(
            modeName()
                + " mode brings a transport of its own, and would lose the SslContext of this one:"
                + " set an SSLContext by applyToSslSettings");
      }
      if (transport != null) {
        log.info(
            "{} mode brings a transport of its own in place of {}",
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
            "direct mode goes to the shards themselves, which tell when a routing table is stale: "
                + useless
                + " can be set in targeted mode only");
      }
    }

    private static void refuseWhatDirectModeCannot(MongoClientSettings asked) {
      if (namesUnixSockets(asked)) {
        throw new IllegalArgumentException("direct mode does not connect to Unix domain sockets");
      }
      if (asked.getClusterSettings().getMode() == ClusterConnectionMode.LOAD_BALANCED) {
        throw new IllegalArgumentException(
            "direct mode needs the cluster's own servers, not a load balancer before them");
      }
    }

    private RouterClients targeted(MongoClientSettings asked) {
      replaceTransport(asked);
      Map<String, List<ServerAddressName>> shardRouters =
          new HashMap<>(sources.get(Setting.SHARD_ROUTERS));
      shardRouters.putAll(routers);
      return TargetedMode.create(
          reach(asked),
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

    /** Every command goes where the official client would send it. */
    private RouterClients unrouted(MongoClientSettings asked) {
      replaceTransport(asked);
      if (asked.getClusterSettings().getMode() == ClusterConnectionMode.LOAD_BALANCED) {
        throw new IllegalArgumentException(
            "loadBalanced=true cannot be pipelined: behind a load balancer each connection may"
                + " lead to another mongos, and cursors and transactions stay on theirs");
      }
      if (namesUnixSockets(asked)) {
        throw new IllegalArgumentException("Unix domain sockets cannot be pipelined");
      }
      return TargetedMode.unrouted(
          reach(asked),
          sources.get(Setting.PREFERRED_ZONES),
          new CommandMeter(registry, observations, modeName()));
    }

    private static boolean namesUnixSockets(MongoClientSettings asked) {
      return asked.getClusterSettings().getHosts().stream()
          .anyMatch(host -> host instanceof UnixServerAddress);
    }
  }
}
