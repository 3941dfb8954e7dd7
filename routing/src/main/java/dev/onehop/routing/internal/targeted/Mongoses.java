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
import dev.onehop.routing.internal.affinity.Affinity;
import dev.onehop.routing.internal.affinity.ClusterPin;
import dev.onehop.routing.internal.metrics.Route;
import dev.onehop.routing.observation.RouteDecision;
import dev.onehop.wire.ServerAddressName;
import dev.onehop.wire.connection.Connections;
import dev.onehop.wire.message.CommandFailure;
import dev.onehop.wire.message.ErrorCodes;
import dev.onehop.wire.watch.DriverWatch;
import dev.onehop.wire.watch.Losses;
import dev.onehop.wire.watch.MonitoredServers;
import dev.onehop.wire.watch.PreferredZones;
import dev.onehop.wire.watch.ServerSet;
import dev.onehop.wire.watch.ServerWait;
import dev.onehop.wire.watch.SingleServer;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import org.bson.BsonDocument;
import org.bson.types.ObjectId;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.Exceptions;
import reactor.core.publisher.Mono;

/**
 * Chooses the mongos for a command: one beside a shard, or the nearest. What a command finds out
 * comes sooner than what {@link WatchedMongoses} has, and counts until a server was looked at
 * again.
 *
 * <p>Thread-safe.
 */
final class Mongoses implements ServerSet {
  private static final Logger log = LoggerFactory.getLogger(Mongoses.class);

  /** How long a server that has failed is passed over if its monitor has noticed nothing. */
  private static final Duration DISTRUST = Duration.ofSeconds(1);

  /** A mongos that has not answered yet may be in another region. */
  private static final Duration UNKNOWN_ROUND_TRIP = Duration.ofMillis(60);

  private final WatchedMongoses watched;
  private final Duration selectionTimeout;
  private final long localThresholdNanos;
  private final PreferredZones zones;
  private final long createdNanos = System.nanoTime();
  private final AtomicInteger servingZone = new AtomicInteger();
  // When each server has failed last.
  private final Map<ServerAddressName, Long> failedNanos = new ConcurrentHashMap<>();
  private final Map<ServerAddress, ServerAddressName> names = new ConcurrentHashMap<>();
  private final ServerWait wait;
  // The driver's first round trips include what a new connection takes.
  private final AtomicLong quickestRead = new AtomicLong(Long.MAX_VALUE);

  /**
   * Begins to watch.
   *
   * @param settings of the clients that watch
   * @param pin says which mongoses are of this cluster
   * @param zones that the application prefers
   * @param connections to the mongoses, which are reset when one is lost; stay the caller's
   */
  Mongoses(
      MongoClientSettings settings, ClusterPin pin, PreferredZones zones, Connections connections) {
    this.zones = zones;
    this.selectionTimeout =
        Duration.ofMillis(
            settings.getClusterSettings().getServerSelectionTimeout(TimeUnit.MILLISECONDS));
    this.wait = new ServerWait(selectionTimeout);
    this.localThresholdNanos =
        settings.getClusterSettings().getLocalThreshold(TimeUnit.NANOSECONDS);
    Losses losses = new Losses(connections);
    this.watched =
        new WatchedMongoses(
            MongoClientSettings.builder(settings)
                .applyToServerSettings(servers -> servers.addServerMonitorListener(losses))
                .build(),
            pin,
            of -> new DriverWatch(of, changes(losses)),
            System::nanoTime);
  }

  private ClusterListener changes(Losses losses) {
    return new ClusterListener() {
      @Override
      public void clusterDescriptionChanged(ClusterDescriptionChangedEvent event) {
        losses.changed(event.getPreviousDescription(), event.getNewDescription());
        wait.changed();
      }
    };
  }

  /** Follows a new affinity: watches the mongoses beside the shards. */
  void update(Affinity next) {
    watched.update(next);
    wait.changed();
  }

  private ServerAddressName name(ServerAddress address) {
    ServerAddressName name = names.get(address);
    return name != null ? name : names.computeIfAbsent(address, SingleServer::name);
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
    List<ServerDescription> usable = watched.usableBeside(shard);
    if (usable == null) {
      return null;
    }
    RouteDecision decision = decision(shard);
    ServerAddressName server = choose(zones.first(trusted(usable)));
    if (server != null) {
      return new Route(decision, shard, server, false);
    }
    ServerAddressName other = trusted(watched.usableSeeds()).isEmpty() ? another() : nearest(null);
    return other == null ? null : new Route(decision, shard, other, true);
  }

  /** A mongos that the URI does not name. */
  private @Nullable ServerAddressName another() {
    return choose(inZone(trusted(watched.usableOthers()), watched.seeds(), null));
  }

  /**
   * The nearest mongos.
   *
   * @param readPreference where there is a replica set in its place, null for its primary
   * @return null if none is up
   */
  @Nullable ServerAddressName nearest(@Nullable BsonDocument readPreference) {
    List<ServerDescription> usable = watched.usableSeeds();
    ClusterDescription cluster = watched.seeds();
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
    return zones.reason(SingleServer.address(server));
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

  private @Nullable ServerAddressName choose(List<ServerDescription> servers) {
    ServerDescription chosen = ServerWait.choose(servers, localThresholdNanos);
    return chosen == null ? null : name(chosen.getAddress());
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
    for (ServerDescription each : watched.all()) {
      if (name(each.getAddress()).equals(server)) {
        return each.isOk();
      }
    }
    return false;
  }

  /** The mongoses that a shard's commands go to as long as one of them is up. */
  List<ServerAddressName> besideShard(String shard) {
    return watched.affinity().besideShard(shard);
  }

  /** What is decided for an operation of one shard. */
  RouteDecision decision(String shard) {
    Affinity affinity = watched.affinity();
    return affinity.ofShard(shard).isBeside()
        ? RouteDecision.OWNER
        : affinity.shards().isEmpty()
            ? RouteDecision.NOT_KNOWN_YET
            : RouteDecision.NO_ROUTER_BESIDE;
  }

  /** Which mongoses stand beside which shard. */
  Affinity affinity() {
    return watched.affinity();
  }

  /** The cluster's id; null if no mongos has told it. */
  @Nullable ObjectId clusterId() {
    return watched.clusterId();
  }

  /** How far the mongos of a shard is, if its route leads there. */
  long roundTripNanos(Route route) {
    List<ServerDescription> beside =
        route.shard() == null ? null : watched.usableBeside(route.shard());
    return beside == null || beside.isEmpty() ? nearestRoundTripNanos() : roundTripNanos(beside);
  }

  /** How far the nearest mongos is. */
  long nearestRoundTripNanos() {
    return Math.min(roundTripNanos(watched.seeds().getServerDescriptions()), quickestRead.get());
  }

  /** Takes note of how long a read of ours over the nearest mongos took. */
  void noteRead(long nanos) {
    quickestRead.accumulateAndGet(nanos, Math::min);
  }

  private static long roundTripNanos(List<ServerDescription> servers) {
    return servers.stream()
        .filter(ServerDescription::isOk)
        .mapToLong(ServerDescription::getRoundTripTimeNanos)
        .min()
        .orElse(UNKNOWN_ROUND_TRIP.toNanos());
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
                  check();
                  throw Exceptions.propagate(new IOException(outage));
                }
              }
              return found;
            })
        : awaited(choice);
  }

  /** Waits for a choice, which is made again whenever something has changed. */
  <T> Mono<T> awaited(Supplier<@Nullable T> choice) {
    return wait.until(choice, this::check, this::noneInTime);
  }

  /**
   * Checks servers soon if none can be reached, as the driver does while an operation waits for
   * one. Never blocks.
   */
  void check() {
    boolean heard = watched.all().stream().anyMatch(each -> each.isOk() || hasFailed(each));
    if (heard && outage() != null) {
      watched.checkNow();
    }
  }

  private static boolean hasFailed(ServerDescription server) {
    return server.getException() != null;
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
    for (ServerDescription each : watched.all()) {
      if (each.isOk() && isTrusted(each)) {
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
    List<ServerDescription> seeds = watched.seeds().getServerDescriptions();
    return watched.seeds().getSrvResolutionException() != null
        || (!seeds.isEmpty() && seeds.stream().allMatch(Mongoses::hasFailed));
  }

  private String listed() {
    List<String> servers = new ArrayList<>();
    for (ServerDescription each : watched.all()) {
      servers.add(name(each.getAddress()) + state(each));
    }
    Throwable unresolved = watched.seeds().getSrvResolutionException();
    if (unresolved != null) {
      servers.add(MonitoredServers.unresolved(unresolved));
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

  /** The lowest wire version that any mongos speaks that is up; 0 if none is. */
  int maxWireVersion() {
    int lowest = Integer.MAX_VALUE;
    for (ServerDescription each : watched.all()) {
      if (each.isOk()) {
        lowest = Math.min(lowest, each.getMaxWireVersion());
      }
    }
    return lowest == Integer.MAX_VALUE ? 0 : lowest;
  }

  /** What the URI leads to. */
  ClusterType type() {
    return watched.seeds().getType();
  }

  /** The member of a replica set that the URI names alone; null if there is none. */
  @Nullable ServerDescription onlyMember() {
    ClusterDescription cluster = watched.seeds();
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
    watched.close();
  }
}
