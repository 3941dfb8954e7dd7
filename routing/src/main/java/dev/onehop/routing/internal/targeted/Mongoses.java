package dev.onehop.routing.internal.targeted;

import com.mongodb.MongoClientSettings;
import com.mongodb.ReadPreference;
import com.mongodb.ServerAddress;
import com.mongodb.connection.ClusterConnectionMode;
import com.mongodb.connection.ClusterDescription;
import com.mongodb.connection.ClusterType;
import com.mongodb.connection.ServerDescription;
import com.mongodb.event.ClusterDescriptionChangedEvent;
import com.mongodb.event.ClusterListener;
import com.mongodb.reactivestreams.client.MongoClient;
import dev.onehop.routing.internal.affinity.Connector;
import dev.onehop.routing.internal.affinity.ShardClients;
import dev.onehop.routing.internal.affinity.ShardClients.ShardClient;
import dev.onehop.routing.internal.router.Losses;
import dev.onehop.routing.internal.router.MonitoredServers;
import dev.onehop.routing.internal.wire.Connections;
import dev.onehop.routing.internal.zones.PreferredZones;
import dev.onehop.routing.observation.RouteDecision;
import dev.onehop.routing.spi.shard.CommandFailure;
import dev.onehop.routing.spi.shard.ErrorCodes;
import dev.onehop.routing.spi.shard.ServerSet;
import dev.onehop.routing.spi.wire.ServerAddressName;
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
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.function.Supplier;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.Exceptions;
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
  private static final Logger log = LoggerFactory.getLogger(Mongoses.class);

  /** How long a server that has failed is passed over if its monitor has noticed nothing. */
  private static final Duration DISTRUST = Duration.ofSeconds(1);

  /** The driver's own pace while an operation waits. */
  private static final Duration CHECK_EVERY = Duration.ofMillis(500);

  private static final BsonDocument PING = new BsonDocument("ping", new BsonInt32(1));

  private final ShardClients clients;
  private final Duration selectionTimeout;
  private final long localThresholdNanos;
  private final PreferredZones zones;
  private final long createdNanos = System.nanoTime();
  private final AtomicInteger servingZone = new AtomicInteger();
  // When each server has failed last.
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
   * @param zones that the application prefers
   * @param connections to the mongoses, which are reset when one is lost; stay the caller's
   */
  Mongoses(
      MongoClientSettings settings,
      Connector connect,
      Function<Connector, ShardClients> watching,
      PreferredZones zones,
      Connections connections) {
    this.zones = zones;
    Losses losses = new Losses(connections);
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
                        .applyToServerSettings(servers -> servers.addServerMonitorListener(losses))
                        .applyToClusterSettings(
                            cluster -> cluster.addClusterListener(new Changes(losses)))
                        .build()));
  }

  ShardClients clients() {
    return clients;
  }

  private final class Changes implements ClusterListener {
    private final Losses losses;

    Changes(Losses losses) {
      this.losses = losses;
    }

    @Override
    public void clusterDescriptionChanged(ClusterDescriptionChangedEvent event) {
      losses.changed(event.getPreviousDescription(), event.getNewDescription());
      changes.emitNext(true, Sinks.EmitFailureHandler.busyLooping(Duration.ofSeconds(1)));
    }
  }

  private ServerAddressName name(ServerAddress address) {
    ServerAddressName name = names.get(address);
    return name != null
        ? name
        : names.computeIfAbsent(
            address, each -> new ServerAddressName(each.getHost(), each.getPort()));
  }

  /**
   * A connection to a server broke, or the server said that it goes away. The pools have seen to
   * their connections. A command from before the server's last failure says nothing new: its
   * connection was an older one. Source: the drivers' specification "Server Discovery and
   * Monitoring", on errors of an earlier generation.
   *
   * @param sentNanos when the command was sent, by {@link System#nanoTime}
   */
  void failed(ServerAddressName server, long sentNanos) {
    failedNanos.compute(
        server, (name, last) -> last != null && sentNanos - last < 0 ? last : System.nanoTime());
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
      server = choose(zones.first(trusted(usable)));
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
    return choose(inZone(trusted(usable), cluster, readPreference));
  }

  /** Those of the first preferred zone that lives; none while that can't be told. */
  private List<ServerDescription> inZone(
      List<ServerDescription> servers,
      ClusterDescription cluster,
      @Nullable BsonDocument readPreference) {
    if (zones.isEmpty() || servers.isEmpty()) {
      return servers;
    }
    boolean any =
        cluster.getType() != ClusterType.REPLICA_SET
            || PreferredZones.isOfAnyMember(readPreference);
    List<ServerDescription> first =
        any ? zones.first(servers, cluster, System.nanoTime() - createdNanos) : servers;
    if (any && !first.isEmpty()) {
      noteZone(zones.rank(first.get(0).getAddress()));
    }
    return first;
  }

  private void noteZone(int rank) {
    int before = servingZone.get();
    if (rank != before && servingZone.compareAndSet(before, rank)) {
      log.info(
          "{} serves, {} {}",
          zones.name(rank),
          zones.name(Math.min(rank, before)),
          rank > before ? "has no server that lives" : "is back");
    }
  }

  boolean hasZones() {
    return !zones.isEmpty();
  }

  @Override
  public @Nullable String zoneReason(ServerAddressName server) {
    return zones.reason(new ServerAddress(server.host(), server.port()));
  }

  /** Those that have not just failed. */
  private List<ServerDescription> trusted(List<ServerDescription> usable) {
    if (usable.size() == 1) {
      return isTrusted(usable.get(0)) ? usable : List.of();
    }
    List<ServerDescription> trusted = new ArrayList<>(usable.size());
    for (ServerDescription server : usable) {
      if (isTrusted(server)) {
        trusted.add(server);
      }
    }
    return trusted;
  }

  /** One of those within the latency window of the nearest; null if there is none. */
  private @Nullable ServerAddressName choose(List<ServerDescription> servers) {
    if (servers.isEmpty()) {
      return null;
    }
    if (servers.size() == 1) {
      return name(servers.get(0).getAddress());
    }
    long nearest = Long.MAX_VALUE;
    for (ServerDescription server : servers) {
      nearest = Math.min(nearest, server.getRoundTripTimeNanos());
    }
    long window = nearest + localThresholdNanos;
    List<ServerDescription> near = new ArrayList<>(servers);
    near.removeIf(server -> server.getRoundTripTimeNanos() > window);
    return name(near.get(ThreadLocalRandom.current().nextInt(near.size())).getAddress());
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
    return server.getLastUpdateTime(TimeUnit.NANOSECONDS) - failed > 0
        || System.nanoTime() - failed > DISTRUST.toNanos();
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

  /**
   * Waits for the way of a command. If no mongos is left, what the driver sends again by itself
   * fails as on a broken connection: the driver then waits for a server, and says so if none comes.
   *
   * @param driverRetries whether it does
   */
  <T> Mono<T> awaited(Supplier<@Nullable T> choice, boolean driverRetries) {
    return driverRetries
        ? awaited(
            () -> {
              T found = choice.get();
              if (found == null) {
                String outage = outage();
                if (outage != null) {
                  throw Exceptions.propagate(new IOException(outage));
                }
              }
              return found;
            })
        : awaited(choice);
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

  private Throwable noneInTime() {
    String outage = outage();
    if (outage != null) {
      return new IOException(outage);
    }
    return new CommandFailure(
        ErrorCodes.FAILED_TO_SATISFY_READ_PREFERENCE,
        "FailedToSatisfyReadPreference",
        "no mongos was found within " + selectionTimeout.toMillis() + " ms: " + listed());
  }

  /** Why there is no server to send anything to; null if there is one. */
  @Nullable String outage() {
    if (isUsable(clients.nearest()) || clients.all().stream().anyMatch(this::isUsable)) {
      return null;
    }
    return "no mongos can be reached: " + listed();
  }

  /** Whether one of a client's servers is up, and has not just failed. */
  private boolean isUsable(MongoClient client) {
    for (ServerDescription each : client.getClusterDescription().getServerDescriptions()) {
      if (each.isOk() && isTrusted(each)) {
        return true;
      }
    }
    return false;
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

  private String state(ServerDescription server) {
    Throwable why = server.getException();
    if (server.isOk()) {
      return isTrusted(server) ? " is up" : ": a connection to it has just broken";
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
