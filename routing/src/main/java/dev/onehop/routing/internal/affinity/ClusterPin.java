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
 * Restricts a client to one cluster, identified by the cluster id in {@code config.version}. A
 * wrong name in a URI or a mapping, or an address that was reassigned, can lead to a mongos of
 * another cluster, which would execute every operation on other data.
 *
 * <p>The first seed of the URI that returns a cluster id determines the cluster. The cluster id of
 * a mongos is read before the mongos is first used, and again when another process listens at its
 * address. A mongos returns no cluster id if the user lacks the right to read {@code config} or if
 * no config server is up. Such a mongos is used, too.
 *
 * <p>Thread-safe.
 */
public final class ClusterPin {
  private static final Logger log = LoggerFactory.getLogger(ClusterPin.class);

  /** The longest time for which the choice of the cluster waits for the replies of all seeds. */
  private static final Duration ALL_SEEDS = Duration.ofSeconds(2);

  private final @Nullable Function<ServerAddressName, Mono<Identity>> identify;
  private final List<ServerAddress> seeds;
  private final Map<ServerAddress, Known> known = new ConcurrentHashMap<>();
  private final Map<ServerAddress, Mono<Void>> queries = new ConcurrentHashMap<>();
  // Seeds that were down when they were queried. The choice of the cluster does not wait for these
  // seeds. They are queried again once they are up.
  private final Set<ServerAddress> unreachable = ConcurrentHashMap.newKeySet();
  private final Map<ServerAddress, String> failures = new ConcurrentHashMap<>();
  private volatile @Nullable ObjectId clusterId;
  private volatile boolean pinned;
  private volatile boolean waitedForSeeds;

  private record Known(Identity identity, boolean hasId, boolean refused) {}

  /**
   * @param identify reads the identity of a mongos
   * @param seeds the servers of the URI; the first of them with a known cluster id determines the
   *     cluster. The list is empty if a DNS record lists the servers. Then the first reply
   *     determines the cluster
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

  /** A pin that allows every server and sends no queries. */
  public static ClusterPin none() {
    return new ClusterPin();
  }

  /** The cluster's id; null until a mongos has returned it. */
  public @Nullable ObjectId clusterId() {
    return clusterId;
  }

  /**
   * Whether operations may go to a server. If the cluster of a mongos is not known yet, the mongos
   * is queried in the background, and operations may go to it only after its reply.
   */
  public boolean allows(ServerDescription server) {
    if (identify == null || server.getType() != ServerType.SHARD_ROUTER) {
      return true;
    }
    ServerAddress address = server.getAddress();
    Known entry = known.get(address);
    if (entry == null || !isSameProcess(entry, server)) {
      // The query runs on another thread, because operations call this method and must not wait.
      var unused = queryInOrder(address).subscribeOn(Schedulers.parallel()).subscribe();
      // If the URI has a single seed, the seed's cluster is the right one. Operations therefore
      // need not wait for the reply to this query.
      return entry == null && !pinned && seeds.size() == 1 && seeds.contains(address);
    }
    return !entry.refused() && (pinned || !entry.hasId());
  }

  /** Whether a mongos is known to belong to another cluster. */
  public boolean isRefused(ServerAddressName router) {
    Known entry = known.get(SingleServer.address(router));
    return entry != null && entry.refused();
  }

  /**
   * The reason why the last query did not reach a mongos; null if it did, or if there was no query.
   */
  @Nullable String failure(ServerAddressName router) {
    return failures.get(SingleServer.address(router));
  }

  /**
   * Queries the mongoses whose cluster id is not known yet.
   *
   * @return completes when all queries have succeeded or failed
   */
  public Mono<Void> check(List<ServerAddressName> routers) {
    return Flux.fromIterable(routers)
        .map(SingleServer::address)
        .filter(
            address -> {
              Known entry = known.get(address);
              return entry == null || !entry.hasId();
            })
        .flatMap(this::queryInOrder)
        .then();
  }

  private Mono<Void> queryInOrder(ServerAddress address) {
    return Mono.defer(
        () -> {
          if (pinned || !seeds.contains(address)) {
            return query(address);
          }
          // All seeds are queried before one is used. The first seed with an id decides, even if
          // another seed replies sooner.
          return Flux.fromIterable(seeds)
              .flatMap(this::query)
              .then()
              .timeout(ALL_SEEDS, Mono.fromRunnable(this::waitNoLonger));
        });
  }

  private void waitNoLonger() {
    waitedForSeeds = true;
    pin();
  }

  private Mono<Void> query(ServerAddress address) {
    return queries.computeIfAbsent(
        address,
        name ->
            Mono.defer(
                    () -> {
                      unreachable.remove(name);
                      return Objects.requireNonNull(identify).apply(SingleServer.name(name));
                    })
                .doOnNext(
                    identity -> {
                      log.debug("{} returned {}", name, identity);
                      failures.remove(name);
                      received(name, identity);
                    })
                .doOnError(
                    failure -> {
                      log.debug("{} returned no cluster id: {}", name, failure.toString());
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
                .doFinally(signal -> queries.remove(name))
                .then()
                .cache());
  }

  private void received(ServerAddress address, Identity identity) {
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

  /** Chooses the cluster once all seeds have replied, or once {@link #ALL_SEEDS} has passed. */
  private synchronized void pin() {
    boolean allReplied =
        seeds.stream().allMatch(seed -> known.containsKey(seed) || unreachable.contains(seed));
    if (pinned || !(waitedForSeeds || allReplied)) {
      return;
    }
    Map<ServerAddress, Known> named = new LinkedHashMap<>();
    for (ServerAddress seed : seeds) {
      Known entry = known.get(seed);
      if (entry != null && entry.identity().clusterId() != null) {
        named.put(seed, entry);
      }
    }
    if (!named.isEmpty()) {
      pinTo(Objects.requireNonNull(named.values().iterator().next().identity().clusterId()));
    }
  }

  private synchronized void pinTo(ObjectId cluster) {
    if (pinned) {
      return;
    }
    log.debug("the cluster is {}", cluster);
    clusterId = cluster;
    // Compares the cluster ids that servers have already returned.
    Map.copyOf(known).forEach((server, entry) -> received(server, entry.identity()));
    pinned = true;
  }

  private static void refused(ServerAddress address, Identity identity, ObjectId expected) {
    log.error(
        "{} is a mongos of another cluster and will not be used: its cluster id is {}, and the"
            + " cluster id of this client is {}",
        address,
        identity.clusterId(),
        expected);
  }

  /**
   * Whether a description comes from the process that was queried. A mongos before version 4.4
   * reports no process id, so it counts as the same process.
   */
  private static boolean isSameProcess(Known entry, ServerDescription server) {
    ObjectId now = RouterProbe.process(server);
    return !entry.hasId() || now == null || now.equals(entry.identity().processId());
  }
}
