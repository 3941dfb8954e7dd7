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
 * <p>The cluster is that of the first seed of the URI that returns its id. The id of a mongos is
 * read before its first use, and again when another process listens at its address. A mongos that
 * does not return its id (no right to read {@code config}, no config server up) is used.
 *
 * <p>Thread-safe.
 */
public final class ClusterPin {
  private static final Logger log = LoggerFactory.getLogger(ClusterPin.class);

  /** How long a seed that does not answer delays the decision. */
  private static final Duration ALL_SEEDS = Duration.ofSeconds(2);

  private final @Nullable Function<ServerAddressName, Mono<Identity>> identify;
  private final List<ServerAddress> seeds;
  private final Map<ServerAddress, Known> known = new ConcurrentHashMap<>();
  private final Map<ServerAddress, Mono<Void>> queries = new ConcurrentHashMap<>();
  // Seeds that were down when they were queried. They are not waited for, and are queried again
  // once they are up.
  private final Set<ServerAddress> unreachable = ConcurrentHashMap.newKeySet();
  private final Map<ServerAddress, String> failures = new ConcurrentHashMap<>();
  private volatile @Nullable ObjectId clusterId;
  private volatile boolean pinned;
  private volatile boolean waitedForSeeds;

  private record Known(Identity identity, boolean hasId, boolean refused) {}

  /**
   * @param identify reads the identity of a mongos
   * @param seeds the servers of the URI; the first of them with a known cluster id decides. Empty
   *     if a DNS record lists the servers: then the first reply decides
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
   * Whether operations may go to a server. If the cluster of a mongos is not known yet, it is
   * queried in the background and is not used before the reply.
   */
  public boolean allows(ServerDescription server) {
    if (identify == null || server.getType() != ServerType.SHARD_ROUTER) {
      return true;
    }
    ServerAddress address = server.getAddress();
    Known entry = known.get(address);
    if (entry == null || !isSameProcess(entry, server)) {
      // On another thread, because this method is on the path of an operation.
      var unused = queryInOrder(address).subscribeOn(Schedulers.parallel()).subscribe();
      // A single seed defines the cluster.
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
   * The reason why a mongos could not be reached at its last query; null if it could, or was not
   * queried.
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
          // All seeds are queried before one is used, so that the order of the seeds decides and
          // not their speed.
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

  /** Chooses the cluster, once all seeds have replied or their time is over. */
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
    // Checks the servers that returned their cluster id before the pin was set.
    Map.copyOf(known).forEach((server, entry) -> received(server, entry.identity()));
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

  /**
   * Whether a description is of the process that was queried. A mongos before 4.4 has no process
   * id: one query is enough then.
   */
  private static boolean isSameProcess(Known entry, ServerDescription server) {
    ObjectId now = RouterProbe.process(server);
    return !entry.hasId() || now == null || now.equals(entry.identity().processId());
  }
}
