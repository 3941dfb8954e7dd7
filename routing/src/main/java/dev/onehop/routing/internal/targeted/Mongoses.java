package dev.onehop.routing.internal.targeted;

import com.mongodb.MongoClientSettings;
import com.mongodb.ServerAddress;
import com.mongodb.connection.ClusterConnectionMode;
import com.mongodb.connection.ClusterDescription;
import com.mongodb.connection.ClusterType;
import com.mongodb.connection.ServerDescription;
import dev.onehop.routing.internal.affinity.Affinity;
import dev.onehop.routing.internal.affinity.ClusterPin;
import dev.onehop.routing.internal.metrics.Route;
import dev.onehop.routing.observation.RouteDecision;
import dev.onehop.wire.ServerAddressName;
import dev.onehop.wire.connection.Connections;
import dev.onehop.wire.watch.PreferredZones;
import dev.onehop.wire.watch.Servers;
import dev.onehop.wire.watch.SingleServer;
import java.io.IOException;
import java.time.Duration;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.bson.BsonDocument;
import org.bson.types.ObjectId;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.Exceptions;
import reactor.core.publisher.Mono;

/**
 * Chooses the mongos for a command: one near a shard, or the nearest. The mongoses of the URI are
 * watched as one cluster. Every other mongos near a shard is watched separately.
 *
 * <p>Thread-safe.
 */
final class Mongoses extends Servers {
  private static final Logger log = LoggerFactory.getLogger(Mongoses.class);

  /**
   * The least number of watched mongoses, if the cluster has as many. If fewer mongoses are near
   * shards, further mongoses are watched as fallback.
   */
  private static final int LEAST = 3;

  /**
   * The assumed round trip to a mongos that has not replied yet. The mongos may be in another
   * region.
   */
  private static final Duration UNKNOWN_ROUND_TRIP = Duration.ofMillis(60);

  private final ClusterPin pin;
  private final AtomicInteger servingZone = new AtomicInteger();
  // The shortest time of a read of metadata, in nanoseconds. It corrects the first round trips that
  // the driver measures. These are too long, because they include the opening of a connection.
  private final AtomicLong quickestRead = new AtomicLong(Long.MAX_VALUE);
  private volatile Known known = new Known(Affinity.EMPTY, Map.of());

  /**
   * @param affinity the mongoses near each shard
   * @param beside by shard id, the addresses of the mongoses near the shard
   */
  private record Known(Affinity affinity, Map<String, List<ServerAddress>> beside) {}

  /**
   * Starts to watch.
   *
   * @param settings the settings of the watching clients
   * @param pin checks that a mongos belongs to this cluster
   * @param zones the zones that the application prefers
   * @param connections the connections to the mongoses, which are reset when a mongos is lost; the
   *     caller closes them
   */
  Mongoses(
      MongoClientSettings settings, ClusterPin pin, PreferredZones zones, Connections connections) {
    this(settings, pin, zones, byTheDriver(connections), System::nanoTime);
  }

  /**
   * Starts to watch. A test passes a watcher and a clock.
   *
   * @param nanoTime the clock
   */
  Mongoses(
      MongoClientSettings settings,
      ClusterPin pin,
      PreferredZones zones,
      Watcher watcher,
      LongSupplier nanoTime) {
    super(settings, zones, pin::allows, watcher, nanoTime);
    this.pin = pin;
  }

  /** Applies a new affinity, and watches the mongoses that it names. */
  void update(Affinity next) {
    Map<String, List<ServerAddress>> beside = new HashMap<>();
    Set<ServerAddress> seeds = seedNames();
    Set<ServerAddress> wanted = new LinkedHashSet<>(seeds);
    for (String shard : next.shardsWithRouter()) {
      List<ServerAddress> names =
          next.besideShard(shard).stream().map(SingleServer::address).toList();
      beside.put(shard, names);
      wanted.addAll(names);
    }
    for (ServerAddressName router : next.routers()) {
      if (wanted.size() < LEAST) {
        wanted.add(SingleServer.address(router));
      }
    }
    wanted.removeAll(seeds);
    watchAlone(wanted, () -> known = new Known(next, beside));
  }

  /**
   * The usable mongoses near a shard.
   *
   * @return null if they are not known yet
   */
  @Nullable List<ServerDescription> usableBeside(String shard) {
    return usableOf(known.beside.getOrDefault(shard, List.of()));
  }

  /**
   * Chooses the route of a command of one shard.
   *
   * @return null if no mongos is usable yet
   */
  @Nullable Route toShard(String shard) {
    List<ServerDescription> usable = usableBeside(shard);
    if (usable == null) {
      return null;
    }
    RouteDecision decision = decision(shard);
    ServerDescription server = nearest(zones().first(trusted(usable)));
    if (server != null) {
      return new Route(decision, shard, name(server), false);
    }
    ServerDescription other =
        trusted(usableSeeds()).isEmpty()
            ? nearest(inZone(trusted(usableOthers()), null))
            : chosen(null);
    return other == null ? null : new Route(decision, shard, name(other), true);
  }

  /**
   * Chooses the nearest mongos.
   *
   * @param readPreference used if the URI leads to a replica set; null for its primary
   * @return null if no mongos is up
   */
  @Nullable ServerAddressName nearest(@Nullable BsonDocument readPreference) {
    ServerDescription chosen = chosen(readPreference);
    return chosen == null ? null : name(chosen);
  }

  @Override
  protected void serves(int zone) {
    int before = servingZone.get();
    if (zone != before && servingZone.compareAndSet(before, zone)) {
      log.info(
          "{} serves, {} {}",
          zones().name(zone),
          zones().name(Math.min(zone, before)),
          zone > before ? "has no live server" : "is back");
    }
  }

  boolean hasZones() {
    return !zones().isEmpty();
  }

  /** Whether the monitors report a server as up. */
  boolean isUp(ServerAddressName server) {
    return all().stream().anyMatch(each -> each.isOk() && name(each).equals(server));
  }

  /** The mongoses that a shard's commands go to while one of them is up. */
  List<ServerAddressName> besideShard(String shard) {
    return known.affinity.besideShard(shard);
  }

  /** The routing decision for an operation of one shard. */
  RouteDecision decision(String shard) {
    Affinity affinity = known.affinity;
    return affinity.ofShard(shard).isBeside()
        ? RouteDecision.OWNER
        : affinity.shards().isEmpty()
            ? RouteDecision.NOT_KNOWN_YET
            : RouteDecision.NO_ROUTER_BESIDE;
  }

  /** The mongoses near each shard. */
  Affinity affinity() {
    return known.affinity;
  }

  /** The cluster's id; null until a mongos has returned it. */
  @Nullable ObjectId clusterId() {
    return pin.clusterId();
  }

  /** The round trip to the mongos of a route, in nanoseconds. */
  long roundTripNanos(Route route) {
    List<ServerDescription> beside = route.shard() == null ? null : usableBeside(route.shard());
    return beside == null || beside.isEmpty() ? nearestRoundTripNanos() : roundTripNanos(beside);
  }

  /** The round trip to the nearest mongos, in nanoseconds. */
  long nearestRoundTripNanos() {
    return Math.min(roundTripNanos(seeds().getServerDescriptions()), quickestRead.get());
  }

  /** Records the duration of a read through the nearest mongos. */
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
   * Waits for the route of a command. If no mongos can be reached and the driver retries the
   * command, the command fails with the error of a broken connection. The driver then waits for a
   * server and reports an error if it finds none.
   *
   * @param driverRetries whether the driver retries the command
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

  /**
   * If no server can be reached, makes the monitors check all servers soon. The driver does the
   * same while an operation waits for a server.
   */
  @Override
  protected void check() {
    boolean heard = all().stream().anyMatch(each -> each.isOk() || hasFailed(each));
    if (heard && outage() != null) {
      super.check();
    }
  }

  @Override
  protected Throwable notFound(@Nullable BsonDocument readPreference) {
    String outage = outage();
    return outage != null ? new IOException(outage) : noneInTime("mongos");
  }

  /** The reason why no server can be reached; null if a server can be reached. */
  @Nullable String outage() {
    return all().stream().anyMatch(each -> each.isOk() && isTrusted(each))
        ? null
        : "no mongos can be reached: " + listed(": ");
  }

  /** Completes when one server is up, or when all servers of the URI have failed. */
  Mono<Void> heard() {
    return awaited(() -> (outage() == null || haveAllFailed()) ? Boolean.TRUE : null).then();
  }

  private boolean haveAllFailed() {
    List<ServerDescription> seeds = seeds().getServerDescriptions();
    return seeds().getSrvResolutionException() != null
        || (!seeds.isEmpty() && seeds.stream().allMatch(Servers::hasFailed));
  }

  /** The highest wire version that all live mongoses support; 0 if no mongos is live. */
  int maxWireVersion() {
    return all().stream()
        .filter(ServerDescription::isOk)
        .mapToInt(ServerDescription::getMaxWireVersion)
        .min()
        .orElse(0);
  }

  /** The type of the servers that the URI names. */
  ClusterType type() {
    return seeds().getType();
  }

  /**
   * The member of a replica set, if the URI names a single server and this server is a member of a
   * replica set; otherwise null.
   */
  @Nullable ServerDescription onlyMember() {
    ClusterDescription cluster = seeds();
    return cluster.getType() == ClusterType.REPLICA_SET
            && cluster.getConnectionMode() == ClusterConnectionMode.SINGLE
        ? cluster.getServerDescriptions().get(0)
        : null;
  }

  @Override
  public void close() {
    super.close();
    known = new Known(Affinity.EMPTY, Map.of());
  }
}
