package dev.onehop.routing.internal.targeted;

import com.mongodb.MongoClientSettings;
import com.mongodb.MongoSocketReadTimeoutException;
import com.mongodb.ReadPreference;
import com.mongodb.ServerAddress;
import com.mongodb.connection.ClusterConnectionMode;
import com.mongodb.connection.ClusterDescription;
import com.mongodb.connection.ClusterType;
import com.mongodb.connection.ServerDescription;
import com.mongodb.event.ClusterDescriptionChangedEvent;
import com.mongodb.event.ClusterListener;
import com.mongodb.event.ServerDescriptionChangedEvent;
import com.mongodb.event.ServerListener;
import com.mongodb.reactivestreams.client.MongoClient;
import dev.onehop.routing.RouteDecision;
import dev.onehop.routing.internal.affinity.Connector;
import dev.onehop.routing.internal.affinity.ShardClients;
import dev.onehop.routing.internal.affinity.ShardClients.ShardClient;
import dev.onehop.routing.internal.direct.shard.CommandFailure;
import dev.onehop.routing.internal.direct.shard.ErrorCodes;
import dev.onehop.routing.internal.direct.shard.ServerSet;
import dev.onehop.routing.internal.router.MonitoredServers;
import dev.onehop.routing.internal.wire.ServerAddressName;
import dev.onehop.routing.internal.wire.WirePool;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import java.util.function.Supplier;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.core.scheduler.Schedulers;

/**
 * Chooses the mongos for a command: one beside a shard, or the nearest. Official clients watch
 * them, as {@link ShardClients} keeps them, and do nothing else; what a command finds out comes
 * sooner and counts until a server was looked at again.
 *
 * <p>Thread-safe.
 */
final class Mongoses implements ServerSet {
  /** How long a server that has failed is passed over if its monitor has noticed nothing. */
  private static final Duration DISTRUST = Duration.ofSeconds(1);

  /** The driver's own pace while an operation waits. */
  private static final Duration CHECK_EVERY = Duration.ofMillis(500);

  private static final BsonDocument PING = new BsonDocument("ping", new BsonInt32(1));

  private final ShardClients clients;
  private final WirePool pool;
  private final Duration selectionTimeout;
  private final long localThresholdNanos;
  private final Map<ServerAddressName, Long> failedNanos = new ConcurrentHashMap<>();
  private final Map<ServerAddress, ServerAddressName> names = new ConcurrentHashMap<>();
  private final Sinks.Many<Boolean> changes = Sinks.many().multicast().directBestEffort();
  private final AtomicBoolean checking = new AtomicBoolean();

  /**
   * Begins to watch.
   *
   * @param settings of the clients that watch
   * @param connect makes them
   * @param watching makes the set of them
   * @param pool the connections to the mongoses; stays the caller's
   */
  Mongoses(
      MongoClientSettings settings,
      Connector connect,
      Function<Connector, ShardClients> watching,
      WirePool pool) {
    this.pool = pool;
    this.selectionTimeout =
        Duration.ofMillis(
            settings.getClusterSettings().getServerSelectionTimeout(TimeUnit.MILLISECONDS));
    this.localThresholdNanos =
        settings.getClusterSettings().getLocalThreshold(TimeUnit.NANOSECONDS);
    this.clients =
        watching.apply(
            asked ->
                connect.connect(
                    MongoClientSettings.builder(asked)
                        .applyToServerSettings(servers -> servers.addServerListener(new Losses()))
                        .applyToClusterSettings(
                            cluster -> cluster.addClusterListener(new Changes()))
                        .build()));
  }

  ShardClients clients() {
    return clients;
  }

  private final class Changes implements ClusterListener {
    @Override
    public void clusterDescriptionChanged(ClusterDescriptionChangedEvent event) {
      changes.emitNext(true, Sinks.EmitFailureHandler.busyLooping(Duration.ofSeconds(1)));
    }
  }

  private final class Losses implements ServerListener {
    @Override
    public void serverDescriptionChanged(ServerDescriptionChangedEvent event) {
      ServerDescription now = event.getNewDescription();
      Throwable failure = now.getException();
      if (!now.isOk() && failure != null) {
        String why = now.getAddress() + " is lost: " + MonitoredServers.rootMessage(failure);
        // As the driver does: one that says nothing keeps those waiting who have sent something.
        pool.reset(
            name(now.getAddress()),
            failure instanceof MongoSocketReadTimeoutException,
            new IOException(why));
      }
    }
  }

  private ServerAddressName name(ServerAddress address) {
    ServerAddressName name = names.get(address);
    return name != null
        ? name
        : names.computeIfAbsent(
            address, each -> new ServerAddressName(each.getHost(), each.getPort()));
  }

  /** A connection to a server broke, or the server said that it goes away. */
  void failed(ServerAddressName server, IOException why) {
    failedNanos.put(server, System.nanoTime());
    pool.reset(server, false, why);
  }

  /**
   * Where a command of one shard goes.
   *
   * @return null if that has to be waited for
   */
  @Nullable Route toShard(String shard) {
    ShardClient client = clients.find(shard);
    RouteDecision decision =
        client != null && clients.isBeside(shard)
            ? RouteDecision.OWNER
            : RouteDecision.NO_ROUTER_BESIDE;
    ServerAddressName server = null;
    if (client != null) {
      List<ServerDescription> usable = client.usable();
      if (usable.isEmpty()) {
        return null;
      }
      server = choose(usable);
    }
    boolean down = server == null || (client != null && client.isFallingBack());
    if (server == null) {
      server = nearest(null);
    }
    return server == null ? null : new Route(decision, shard, server, down);
  }

  /**
   * The nearest mongos.
   *
   * @param readPreference where there is a replica set in its place, null for its primary
   * @return null if none is up
   */
  @Nullable ServerAddressName nearest(@Nullable BsonDocument readPreference) {
    List<ServerDescription> usable = clients.nearestUsable();
    ClusterDescription cluster = clients.nearest().getClusterDescription();
    if (cluster.getType() == ClusterType.REPLICA_SET
        && cluster.getConnectionMode() != ClusterConnectionMode.SINGLE) {
      ReadPreference wanted =
          readPreference == null
              ? ReadPreference.primary()
              : MonitoredServers.preference(readPreference);
      usable = new ArrayList<>(usable);
      usable.retainAll(wanted.choose(cluster));
    }
    return choose(usable);
  }

  /** One of those within the latency window of the nearest that has not just failed. */
  private @Nullable ServerAddressName choose(List<ServerDescription> usable) {
    if (usable.size() == 1) {
      ServerDescription only = usable.get(0);
      return isTrusted(only) ? name(only.getAddress()) : null;
    }
    List<ServerDescription> trusted = new ArrayList<>(usable.size());
    long nearest = Long.MAX_VALUE;
    for (ServerDescription server : usable) {
      if (isTrusted(server)) {
        trusted.add(server);
        nearest = Math.min(nearest, server.getRoundTripTimeNanos());
      }
    }
    if (trusted.isEmpty()) {
      return null;
    }
    long window = nearest + localThresholdNanos;
    trusted.removeIf(server -> server.getRoundTripTimeNanos() > window);
    return name(trusted.get(ThreadLocalRandom.current().nextInt(trusted.size())).getAddress());
  }

  private boolean isTrusted(ServerDescription server) {
    if (failedNanos.isEmpty()) {
      return true;
    }
    ServerAddressName name = name(server.getAddress());
    Long failed = failedNanos.get(name);
    if (failed == null) {
      return true;
    }
    boolean over =
        server.getLastUpdateTime(TimeUnit.NANOSECONDS) - failed > 0
            || System.nanoTime() - failed > DISTRUST.toNanos();
    if (over) {
      failedNanos.remove(name, failed);
    }
    return over;
  }

  /** Whether a server is up, as its monitors say. */
  boolean isUp(ServerAddressName server) {
    for (ServerDescription each : known().values()) {
      if (name(each.getAddress()).equals(server)) {
        return each.isOk();
      }
    }
    return false;
  }

  /** The mongoses that a shard's commands go to as long as one of them is up. */
  List<ServerAddressName> besideShard(String shard) {
    ShardClient client = clients.find(shard);
    return client == null ? List.of() : client.servers().stream().map(this::name).toList();
  }

  boolean isBeside(String shard) {
    return clients.find(shard) != null && clients.isBeside(shard);
  }

  /** How far a route's mongos is. */
  long roundTripNanos(Route route) {
    ShardClient client = route.shard() == null ? null : clients.find(route.shard());
    return client == null ? clients.nearestRoundTripNanos() : client.roundTripNanos();
  }

  /** Waits for a choice, which is made again whenever something has changed. */
  <T> Mono<T> awaited(Supplier<@Nullable T> choice) {
    return Mono.defer(
        () -> {
          T now = choice.get();
          if (now != null) {
            return Mono.just(now);
          }
          Mono<T> chosen =
              // Not on the threads that watch, which hold locks of the driver's.
              Flux.merge(
                      changes.asFlux().publishOn(Schedulers.parallel()),
                      Flux.interval(CHECK_EVERY).doOnNext(this::check))
                  .onBackpressureDrop()
                  .startWith(true)
                  .<T>handle(
                      (change, sink) -> {
                        T found = choice.get();
                        if (found != null) {
                          sink.next(found);
                        }
                      })
                  .next();
          return selectionTimeout.isNegative()
              ? chosen
              : chosen.timeout(selectionTimeout, Mono.error(this::noneInTime));
        });
  }

  /** While an operation of the driver's own waits, it checks servers twice a second. */
  private void check(long tick) {
    if (outage() != null && checking.compareAndSet(false, true)) {
      Mono.defer(() -> Mono.from(clients.nearest().getDatabase("admin").runCommand(PING)))
          .doFinally(end -> checking.set(false))
          .subscribe(pong -> {}, noServer -> {});
    }
  }

  private CommandFailure noneInTime() {
    return new CommandFailure(
        ErrorCodes.FAILED_TO_SATISFY_READ_PREFERENCE,
        "FailedToSatisfyReadPreference",
        "no mongos was found within " + selectionTimeout.toMillis() + " ms: " + listed());
  }

  /** Why there is no server to send anything to; null if there is one. */
  @Nullable String outage() {
    for (ServerDescription each : known().values()) {
      if (each.isOk()) {
        return null;
      }
    }
    return "no mongos can be reached: " + listed();
  }

  /** Completes when a server is up, or all of those that the URI names have failed. */
  Mono<Void> heard() {
    return awaited(() -> (outage() == null || haveAllFailed()) ? Boolean.TRUE : null).then();
  }

  private boolean haveAllFailed() {
    List<ServerDescription> seeds =
        clients.nearest().getClusterDescription().getServerDescriptions();
    return !seeds.isEmpty() && seeds.stream().allMatch(each -> each.getException() != null);
  }

  private String listed() {
    List<String> servers = new ArrayList<>();
    for (ServerDescription each : known().values()) {
      servers.add(name(each.getAddress()) + state(each));
    }
    return servers.isEmpty() ? "no name is known yet" : String.join(", ", servers);
  }

  private static String state(ServerDescription server) {
    Throwable why = server.getException();
    if (server.isOk()) {
      return " is up";
    }
    return why == null ? " has not answered yet" : ": " + MonitoredServers.rootMessage(why);
  }

  /** By address, as the client says that knows most of it. */
  private Map<ServerAddress, ServerDescription> known() {
    Map<ServerAddress, ServerDescription> known = new LinkedHashMap<>();
    add(clients.nearest(), known);
    clients.all().forEach(each -> add(each, known));
    return known;
  }

  private static void add(MongoClient client, Map<ServerAddress, ServerDescription> known) {
    for (ServerDescription each : client.getClusterDescription().getServerDescriptions()) {
      known.merge(each.getAddress(), each, (one, other) -> one.isOk() ? one : other);
    }
  }

  /** The lowest wire version that any mongos speaks that is up; 0 if none is. */
  int maxWireVersion() {
    int lowest = Integer.MAX_VALUE;
    for (ServerDescription each : known().values()) {
      if (each.isOk()) {
        lowest = Math.min(lowest, each.getMaxWireVersion());
      }
    }
    return lowest == Integer.MAX_VALUE ? 0 : lowest;
  }

  /** What the URI leads to. */
  ClusterType type() {
    return clients.nearest().getClusterDescription().getType();
  }

  /** The member of a replica set that the URI names alone; null if there is none. */
  @Nullable ServerDescription onlyMember() {
    ClusterDescription cluster = clients.nearest().getClusterDescription();
    return cluster.getType() == ClusterType.REPLICA_SET
            && cluster.getConnectionMode() == ClusterConnectionMode.SINGLE
        ? cluster.getServerDescriptions().get(0)
        : null;
  }

  @Override
  public @Nullable Server primary() {
    ServerAddressName nearest = nearest(null);
    return nearest == null ? null : new Server(nearest, maxWireVersion());
  }

  @Override
  public Mono<Server> select(@Nullable BsonDocument readPreference) {
    return awaited(
        () -> {
          ServerAddressName nearest = nearest(readPreference);
          return nearest == null ? null : new Server(nearest, maxWireVersion());
        });
  }

  @Override
  public void close() {
    clients.close();
  }
}
