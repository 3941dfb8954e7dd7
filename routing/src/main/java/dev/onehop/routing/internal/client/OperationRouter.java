package dev.onehop.routing.internal.client;

import dev.onehop.core.table.RoutingTable;
import dev.onehop.core.targeting.Target;
import dev.onehop.routing.RouteDecision;
import dev.onehop.routing.internal.affinity.ShardClients;
import dev.onehop.routing.internal.affinity.ShardClients.ShardClient;
import dev.onehop.routing.internal.catalog.RoutingCatalog;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Decides for each operation, when it is subscribed to, which client it goes through. What can't be
 * decided goes to the nearest mongos, which routes it right, and is counted.
 *
 * <p>Thread-safe.
 */
final class OperationRouter {
  private static final Logger log = LoggerFactory.getLogger(OperationRouter.class);

  /** The first operation on a collection waits this long for its table, then goes unrouted. */
  private static final Duration FIRST_LOAD_TIMEOUT = Duration.ofSeconds(10);

  private static final Duration RETRY_AFTER_FAILURE = Duration.ofSeconds(5);

  private final RoutingCatalog catalog;
  private final ShardClients clients;
  private final RoutingMetrics metrics;
  private final Mono<Void> affinityReady;
  private final Map<String, Long> unroutableUntilNanos = new ConcurrentHashMap<>();

  /** Where one operation goes; the client is null for the nearest mongos. */
  record Route(RouteDecision decision, @Nullable String shard, @Nullable ShardClient client) {
    private static final Route NO_TABLE = new Route(RouteDecision.NO_TABLE, null, null);
    private static final Route SEVERAL = new Route(RouteDecision.SEVERAL_SHARDS, null, null);
  }

  /**
   * @param affinityReady completes when the mongoses beside the shards are known
   */
  OperationRouter(
      RoutingCatalog catalog,
      ShardClients clients,
      RoutingMetrics metrics,
      Mono<Void> affinityReady) {
    this.catalog = catalog;
    this.clients = clients;
    this.metrics = metrics;
    this.affinityReady = affinityReady;
  }

  /**
   * Runs an operation where it belongs.
   *
   * @param operation name for the metrics
   * @param targeting what the operation touches, by a routing table
   * @param call the operation on the route's client, called once per subscription
   */
  <R> Flux<R> route(
      String namespace,
      String operation,
      Function<RoutingTable, Target> targeting,
      Function<Route, Publisher<R>> call) {
    return Flux.defer(
        () -> {
          RoutingTable table = catalog.cached(namespace);
          if (table != null) {
            return call.apply(counted(operation, decide(table, targeting)));
          }
          if (isUnroutable(namespace)) {
            return call.apply(counted(operation, Route.NO_TABLE));
          }
          return firstTable(namespace)
              .map(loaded -> decide(loaded, targeting))
              .defaultIfEmpty(Route.NO_TABLE)
              .flatMapMany(route -> call.apply(counted(operation, route)));
        });
  }

  /** Counts an operation that is bound to a session. */
  void countSession(String operation) {
    metrics.count(operation, RouteDecision.SESSION, null);
  }

  private Route decide(RoutingTable table, Function<RoutingTable, Target> targeting) {
    Target target = targeting.apply(table);
    if (!target.isSingleShard()) {
      return Route.SEVERAL;
    }
    String shard = target.shard();
    ShardClient client = clients.find(shard);
    return client == null
        ? new Route(RouteDecision.NO_ROUTER_BESIDE, shard, null)
        : new Route(RouteDecision.OWNER, shard, client);
  }

  private Route counted(String operation, Route route) {
    metrics.count(operation, route.decision(), route.shard());
    return route;
  }

  /** The collection's first table, empty if there is none to be had. */
  private Mono<RoutingTable> firstTable(String namespace) {
    return affinityReady
        .then(catalog.table(namespace))
        .timeout(FIRST_LOAD_TIMEOUT)
        .onErrorResume(
            failure -> {
              log.info(
                  "{}: no routing table, operations go to the nearest mongos: {}",
                  namespace,
                  failure.getMessage());
              unroutableUntilNanos.put(
                  namespace, System.nanoTime() + RETRY_AFTER_FAILURE.toNanos());
              return Mono.empty();
            });
  }

  private boolean isUnroutable(String namespace) {
    Long until = unroutableUntilNanos.get(namespace);
    return until != null && System.nanoTime() - until < 0;
  }
}
