package dev.onehop.routing.internal.client;

import com.mongodb.reactivestreams.client.MongoClient;
import dev.onehop.core.table.RoutingTable;
import dev.onehop.core.targeting.Target;
import dev.onehop.routing.RouteDecision;
import dev.onehop.routing.internal.affinity.ShardClients;
import dev.onehop.routing.internal.affinity.ShardClients.ShardClient;
import dev.onehop.routing.internal.catalog.RoutingCatalog;
import dev.onehop.routing.internal.client.RoutedSession.Place;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
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
  private final ClusterTimes times;
  private final Counterpart counterpart;
  private final NothingSent nothingSent;
  private final Mono<Void> affinityReady;
  private final Map<String, Long> unroutableUntilNanos = new ConcurrentHashMap<>();
  private final UnroutedNotice notice = new UnroutedNotice(log);

  /** Where one operation goes; the client is null for the nearest mongos. */
  record Route(RouteDecision decision, @Nullable String shard, @Nullable ShardClient client) {
    private static final Route NO_TABLE = new Route(RouteDecision.NO_TABLE, null, null);
    private static final Route SEVERAL = new Route(RouteDecision.SEVERAL_SHARDS, null, null);
  }

  /**
   * @param nearest the client on the nearest mongos
   * @param retryWrites the clients' setting
   * @param affinityReady completes when the mongoses beside the shards are known
   */
  OperationRouter(
      MongoClient nearest,
      boolean retryWrites,
      RoutingCatalog catalog,
      ShardClients clients,
      RoutingMetrics metrics,
      Mono<Void> affinityReady) {
    this.catalog = catalog;
    this.clients = clients;
    this.metrics = metrics;
    this.affinityReady = affinityReady;
    this.times = new ClusterTimes(nearest, clients);
    this.counterpart = new Counterpart(nearest);
    this.nothingSent = new NothingSent(retryWrites);
  }

  ClusterTimes times() {
    return times;
  }

  NothingSent nothingSent() {
    return nothingSent;
  }

  Counterpart counterpart() {
    return counterpart;
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
    return withTable(namespace, table -> call.apply(counted(operation, decide(table, targeting))));
  }

  /**
   * The routes of the parts of an operation, all decided by one table.
   *
   * @param call runs the operation, with one route for each targeting
   */
  <R> Flux<R> routeAll(
      String namespace,
      String operation,
      List<Function<RoutingTable, Target>> targeting,
      Function<List<Route>, Publisher<R>> call) {
    return withTable(
        namespace,
        table ->
            call.apply(
                targeting.stream().map(each -> counted(operation, decide(table, each))).toList()));
  }

  /** Calls with the collection's table at subscription, with null where none is to be had. */
  private <R> Flux<R> withTable(
      String namespace, Function<@Nullable RoutingTable, Publisher<R>> call) {
    return Flux.defer(
        () -> {
          RoutingTable table = catalog.cached(namespace);
          if (table != null || isUnroutable(namespace)) {
            return call.apply(table);
          }
          return firstTable(namespace)
              .map(Optional::of)
              .defaultIfEmpty(Optional.empty())
              .flatMapMany(loaded -> call.apply(loaded.orElse(null)));
        });
  }

  /**
   * Runs an operation of a session where it belongs, or where the session's transaction is.
   *
   * @param call the operation at a place, called once per subscription
   */
  <R> Flux<R> routeInSession(
      RoutedSession session,
      String namespace,
      String operation,
      Function<RoutingTable, Target> targeting,
      Function<Place, Publisher<R>> call) {
    return Flux.defer(
        () -> {
          Place place = session.transactionPlace();
          if (place != null) {
            metrics.count(operation, RouteDecision.TRANSACTION, null);
            return call.apply(place);
          }
          return route(
              namespace,
              operation,
              targeting,
              route -> session.place(route.client()).flatMapMany(call));
        });
  }

  private Route decide(@Nullable RoutingTable table, Function<RoutingTable, Target> targeting) {
    if (table == null) {
      return Route.NO_TABLE;
    }
    Target target;
    try {
      target = targeting.apply(table);
    } catch (RuntimeException e) {
      log.debug("{}: no decision, so the official client is to say what is wrong", table, e);
      return Route.SEVERAL;
    }
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
              notice.noTable(namespace, failure);
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
