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
 * Chooses the mongos for a command: one beside a shard, or the nearest. Those that the URI names
 * are watched together, and every further one that stands beside a shard by itself.
 *
 * <p>Thread-safe.
 */
final class Mongoses extends Servers {
  private static final Logger log = LoggerFactory.getLogger(Mongoses.class);

  /** As many are watched where there are so many, so that there is something to fall back on. */
  private static final int LEAST = 3;

  /** A mongos that has not answered yet may be in another region. */
  private static final Duration UNKNOWN_ROUND_TRIP = Duration.ofMillis(60);

  private final ClusterPin pin;
  private final AtomicInteger servingZone = new AtomicInteger();
  // The driver's first round trips include what a new connection takes.
  private final AtomicLong quickestRead = new AtomicLong(Long.MAX_VALUE);
  private volatile Known known = new Known(Affinity.EMPTY, Map.of());

  /**
   * @param beside per shard id its mongoses
   */
  private record Known(Affinity affinity, Map<String, List<ServerAddress>> beside) {}

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
    this(settings, pin, zones, byTheDriver(connections), System::nanoTime);
  }

  /**
   * The same with other watchers.
   *
   * @param nanoTime a clock
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

  /** Follows a new affinity: watches the mongoses beside the shards. */
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
   * The mongoses beside a shard that may be used now.
   *
   * @return null if that can't be told yet
   */
  @Nullable List<ServerDescription> usableBeside(String shard) {
    return usableOf(known.beside.getOrDefault(shard, List.of()));
  }

  /**
   * Where a command of one shard goes.
   *
   * @return null if that has to be waited for
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
   * The nearest mongos.
   *
   * @param readPreference where there is a replica set in its place, null for its primary
   * @return null if none is up
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
          zone > before ? "has no server that lives" : "is back");
    }
  }

  boolean hasZones() {
    return !zones().isEmpty();
  }

  /** Whether a server is up, as its monitors say. */
  boolean isUp(ServerAddressName server) {
    return all().stream().anyMatch(each -> each.isOk() && name(each).equals(server));
  }

  /** The mongoses that a shard's commands go to as long as one of them is up. */
  List<ServerAddressName> besideShard(String shard) {
    return known.affinity.besideShard(shard);
  }

  /** What is decided for an operation of one shard. */
  RouteDecision decision(String shard) {
    Affinity affinity = known.affinity;
    return affinity.ofShard(shard).isBeside()
        ? RouteDecision.OWNER
        : affinity.shards().isEmpty()
            ? RouteDecision.NOT_KNOWN_YET
            : RouteDecision.NO_ROUTER_BESIDE;
  }

  /** Which mongoses stand beside which shard. */
  Affinity affinity() {
    return known.affinity;
  }

  /** The cluster's id; null if no mongos has told it. */
  @Nullable ObjectId clusterId() {
    return pin.clusterId();
  }

  /** How far the mongos of a shard is, if its route leads there. */
  long roundTripNanos(Route route) {
    List<ServerDescription> beside = route.shard() == null ? null : usableBeside(route.shard());
    return beside == null || beside.isEmpty() ? nearestRoundTripNanos() : roundTripNanos(beside);
  }

  /** How far the nearest mongos is. */
  long nearestRoundTripNanos() {
    return Math.min(roundTripNanos(seeds().getServerDescriptions()), quickestRead.get());
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

  /**
   * Checks servers soon if none can be reached, as the driver does while an operation waits for
   * one.
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

  /** Why there is no server to send anything to; null if there is one. */
  @Nullable String outage() {
    return all().stream().anyMatch(each -> each.isOk() && isTrusted(each))
        ? null
        : "no mongos can be reached: " + listed(": ");
  }

  /** Completes when a server is up, or all of those that the URI names have failed. */
  Mono<Void> heard() {
    return awaited(() -> (outage() == null || haveAllFailed()) ? Boolean.TRUE : null).then();
  }

  private boolean haveAllFailed() {
    List<ServerDescription> seeds = seeds().getServerDescriptions();
    return seeds().getSrvResolutionException() != null
        || (!seeds.isEmpty() && seeds.stream().allMatch(Servers::hasFailed));
  }

  /** The lowest wire version that any mongos speaks that is up; 0 if none is. */
  int maxWireVersion() {
    return all().stream()
        .filter(ServerDescription::isOk)
        .mapToInt(ServerDescription::getMaxWireVersion)
        .min()
        .orElse(0);
  }

  /** What the URI leads to. */
  ClusterType type() {
    return seeds().getType();
  }

  /** The member of a replica set that the URI names alone; null if there is none. */
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
