package dev.onehop.routing.internal.affinity;

import com.mongodb.ServerAddress;
import com.mongodb.connection.ServerDescription;
import com.mongodb.connection.ServerType;
import dev.onehop.routing.internal.affinity.RouterProbe.Identity;
import dev.onehop.routing.internal.affinity.RouterProbe.UnreachableException;
import dev.onehop.wire.ServerAddressName;
import dev.onehop.wire.watch.Servers;
import dev.onehop.wire.watch.SingleServer;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import org.bson.types.ObjectId;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/**
 * Holds a client to one cluster, by the id that {@code config.version} gives it. A wrong name in a
 * URI or a mapping, or an address that was given to somebody else, can lead to a mongos of another
 * cluster, which would answer every operation, from other data.
 *
 * <p>The cluster is that of the first seed of the URI that says so. A mongos is asked before its
 * first use, and again when another process answers at its address; one that won't tell (no right
 * to read {@code config}, no config server up) is used.
 *
 * <p>Thread-safe.
 */
public final class ClusterPin {
  private static final Logger log = LoggerFactory.getLogger(ClusterPin.class);

  /** How long a seed that does not answer holds up the others. */
  private static final Duration ALL_SEEDS = Duration.ofSeconds(2);

  private final @Nullable Function<ServerAddressName, Mono<Identity>> identify;
  private final List<ServerAddress> seeds;
  private final Map<ServerAddress, Known> known = new ConcurrentHashMap<>();
  private final Map<ServerAddress, Mono<Void>> asking = new ConcurrentHashMap<>();
  // Seeds that were down when they were asked: not waited for, and asked again once they are up.
  private final Set<ServerAddress> unreachable = ConcurrentHashMap.newKeySet();
  private final Map<ServerAddress, String> failures = new ConcurrentHashMap<>();
  private volatile @Nullable ObjectId clusterId;
  private volatile boolean pinned;
  private volatile boolean waitedForSeeds;

  private record Known(Identity identity, boolean told, boolean refused) {}

  /**
   * @param identify asks a mongos
   * @param seeds the URI's servers, of which the first that tells decides; empty if a DNS record
   *     lists them, then whichever tells first
   */
  public ClusterPin(
      Function<ServerAddressName, Mono<Identity>> identify, List<ServerAddress> seeds) {
    this.identify = identify;
    this.seeds = List.copyOf(seeds);
  }

  private ClusterPin() {
    this.identify = null;
    this.seeds = List.of();
  }

  /** Allows every server, and asks none. */
  public static ClusterPin none() {
    return new ClusterPin();
  }

  /** The cluster's id, null as long as no mongos told it. */
  public @Nullable ObjectId clusterId() {
    return clusterId;
  }

  /**
   * Whether operations may go to a server. Where that isn't known yet, the mongos is asked in the
   * background, and not used before it has answered.
   */
  public boolean allows(ServerDescription server) {
    if (identify == null || server.getType() != ServerType.SHARD_ROUTER) {
      return true;
    }
    ServerAddress address = server.getAddress();
    Known entry = known.get(address);
    if (entry == null || !isSameProcess(entry, server)) {
      // Elsewhere: this runs on the way of an operation.
      var unused = ask(address).subscribeOn(Schedulers.parallel()).subscribe();
      // The only seed there is defines the cluster.
      return entry == null && !pinned && seeds.size() == 1 && seeds.contains(address);
    }
    return !entry.refused() && (pinned || !entry.told());
  }

  /** Whether a mongos is known to belong to another cluster. */
  public boolean isRefused(ServerAddressName router) {
    Known entry = known.get(SingleServer.address(router));
    return entry != null && entry.refused();
  }

  /** Why a mongos could not be reached when it was asked; null if it could, or was not asked. */
  @Nullable String failure(ServerAddressName router) {
    return failures.get(SingleServer.address(router));
  }

  /**
   * Asks the mongoses that did not tell yet.
   *
   * @return completes when all have answered or failed to
   */
  public Mono<Void> check(List<ServerAddressName> routers) {
    return Flux.fromIterable(routers)
        .map(SingleServer::address)
        .filter(
            address -> {
              Known entry = known.get(address);
              return entry == null || !entry.told();
            })
        .flatMap(this::ask)
        .then();
  }

  private Mono<Void> ask(ServerAddress address) {
    return Mono.defer(
        () -> {
          if (pinned || !seeds.contains(address)) {
            return question(address);
          }
          // All seeds are heard before one is used, so that their order decides, not their speed.
          return Flux.fromIterable(seeds)
              .flatMap(this::question)
              .then()
              .timeout(ALL_SEEDS, Mono.fromRunnable(this::waitNoLonger));
        });
  }

  private void waitNoLonger() {
    waitedForSeeds = true;
    pin();
  }

  private Mono<Void> question(ServerAddress address) {
    return asking.computeIfAbsent(
        address,
        name ->
            Mono.defer(
                    () -> {
                      unreachable.remove(name);
                      return Objects.requireNonNull(identify).apply(SingleServer.name(name));
                    })
                .doOnNext(
                    identity -> {
                      log.debug("{} says {}", name, identity);
                      failures.remove(name);
                      heard(name, identity);
                    })
                .doOnError(
                    failure -> {
                      log.debug("{} does not tell its cluster: {}", name, failure.toString());
                      if (failure instanceof UnreachableException) {
                        unreachable.add(name);
                        failures.put(name, Servers.rootMessage(failure));
                      } else {
                        if (failure instanceof TimeoutException) {
                          failures.put(name, "no answer");
                        }
                        known.putIfAbsent(name, new Known(new Identity(null, null), false, false));
                      }
                      pin();
                    })
                .onErrorComplete()
                .doFinally(signal -> asking.remove(name))
                .then()
                .cache());
  }

  private void heard(ServerAddress address, Identity identity) {
    ObjectId expected = clusterId;
    boolean foreign =
        expected != null && identity.clusterId() != null && !identity.clusterId().equals(expected);
    Known before = known.put(address, new Known(identity, identity.clusterId() != null, foreign));
    if (foreign && (before == null || !before.refused())) {
      refused(address, identity, Objects.requireNonNull(expected));
    }
    if (expected == null && seeds.isEmpty() && identity.clusterId() != null) {
      pinTo(identity.clusterId());
    } else if (expected == null) {
      pin();
    }
  }

  /** Decides, once all seeds are heard or have had their time. */
  private synchronized void pin() {
    boolean heardAll =
        seeds.stream().allMatch(seed -> known.containsKey(seed) || unreachable.contains(seed));
    if (pinned || !(waitedForSeeds || heardAll)) {
      return;
    }
    Map<ServerAddress, Known> told = new LinkedHashMap<>();
    for (ServerAddress seed : seeds) {
      Known entry = known.get(seed);
      if (entry != null && entry.identity().clusterId() != null) {
        told.put(seed, entry);
      }
    }
    if (!told.isEmpty()) {
      pinTo(Objects.requireNonNull(told.values().iterator().next().identity().clusterId()));
    }
  }

  private synchronized void pinTo(ObjectId cluster) {
    if (pinned) {
      return;
    }
    log.debug("the cluster is {}", cluster);
    clusterId = cluster;
    // Those that told before there was something to compare with.
    Map.copyOf(known).forEach((server, entry) -> heard(server, entry.identity()));
    pinned = true;
  }

  private static void refused(ServerAddress address, Identity identity, ObjectId expected) {
    log.error(
        "{} is a mongos of another cluster and will not be used: its cluster id is {}, this"
            + " client's is {}",
        address,
        identity.clusterId(),
        expected);
  }

  /** Before 4.4 a mongos doesn't name its process: once asked is enough then. */
  private static boolean isSameProcess(Known entry, ServerDescription server) {
    ObjectId now = RouterProbe.process(server);
    return !entry.told() || now == null || now.equals(entry.identity().processId());
  }
}
