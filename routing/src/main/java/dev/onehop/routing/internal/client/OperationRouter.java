package dev.onehop.routing.internal.client;

import com.mongodb.ServerAddress;
import com.mongodb.reactivestreams.client.MongoClient;
import dev.onehop.core.table.RoutingTable;
import dev.onehop.core.targeting.Target;
import dev.onehop.routing.RouteDecision;
import dev.onehop.routing.RouteExplanation;
import dev.onehop.routing.internal.affinity.ShardClients;
import dev.onehop.routing.internal.affinity.ShardClients.ShardClient;
import dev.onehop.routing.internal.catalog.RoutingCatalog;
import dev.onehop.routing.internal.client.RoutedSession.Place;
import dev.onehop.routing.internal.metrics.Outcome;
import io.micrometer.observation.Observation;
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
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Operators;

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
  private final Observations observations;
  private final Latencies latencies = new Latencies();
  private final ClusterTimes times;
  private final Counterpart counterpart;
  private final NothingSent nothingSent;
  private final Mono<Void> affinityReady;

  /** By shard, as it was decided last. */
  private final Map<String, Route> routes = new ConcurrentHashMap<>();

  private final Map<String, Long> unroutableUntilNanos = new ConcurrentHashMap<>();
  private final UnroutedNotice notice = new UnroutedNotice(log);

  /** Where one operation goes; the client is null for the nearest mongos. */
  record Route(RouteDecision decision, @Nullable String shard, @Nullable ShardClient client) {
    private static final Route NO_TABLE = new Route(RouteDecision.NO_TABLE, null, null);
    private static final Route UNKNOWN_SESSION =
        new Route(RouteDecision.UNKNOWN_SESSION, null, null);
    private static final Route SEVERAL = new Route(RouteDecision.SEVERAL_SHARDS, null, null);

    private static Route ofTransaction(Place place) {
      return new Route(RouteDecision.TRANSACTION, null, place.client());
    }
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
      Observations observations,
      Mono<Void> affinityReady) {
    this.catalog = catalog;
    this.clients = clients;
    this.metrics = metrics;
    this.observations = observations;
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

  /** Runs an operation where it belongs. */
  <R> Flux<R> route(Routable<R> operation) {
    return new Flux<>() {
      @Override
      public void subscribe(CoreSubscriber<? super R> actual) {
        start(operation, actual);
      }
    };
  }

  /** The same for an operation with one result or none. */
  <R> Mono<R> routeOne(Routable<R> operation) {
    return new Mono<>() {
      @Override
      public void subscribe(CoreSubscriber<? super R> actual) {
        start(operation, actual);
      }
    };
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
    return new Flux<>() {
      @Override
      public void subscribe(CoreSubscriber<? super R> actual) {
        startInSession(
            session,
            namespace,
            operation,
            targeting,
            call,
            entering -> entering.flatMapMany(call),
            actual);
      }
    };
  }

  /** The same for an operation with one result or none. */
  <R> Mono<R> routeOneInSession(
      RoutedSession session,
      String namespace,
      String operation,
      Function<RoutingTable, Target> targeting,
      Function<Place, Publisher<R>> call) {
    return new Mono<>() {
      @Override
      public void subscribe(CoreSubscriber<? super R> actual) {
        startInSession(
            session,
            namespace,
            operation,
            targeting,
            call,
            entering -> entering.flatMap(entered -> Mono.from(call.apply(entered))),
            actual);
      }
    };
  }

  /**
   * The routes of the parts of an operation, all decided by one table.
   *
   * @param call runs the operation, with one route for each targeting; it measures the parts with
   *     {@link #part}
   */
  <R> Flux<R> routeAll(
      String namespace,
      List<Function<RoutingTable, Target>> targeting,
      Function<List<Route>, Publisher<R>> call) {
    return table(namespace)
        .flatMapMany(
            found -> {
              RoutingTable table = found.orElse(null);
              return call.apply(targeting.stream().map(each -> decide(table, each)).toList());
            });
  }

  /** A part of an operation, whose route is known. */
  <R> Mono<R> part(String namespace, String operation, Route route, Publisher<R> publisher) {
    return new Mono<>() {
      @Override
      public void subscribe(CoreSubscriber<? super R> actual) {
        run(new Composed<>(namespace, operation, null, known -> publisher), route, actual);
      }
    };
  }

  /** An operation of a session that this client did not start. */
  <R> Flux<R> ofUnknownSession(String namespace, String operation, Publisher<R> official) {
    return new Flux<>() {
      @Override
      public void subscribe(CoreSubscriber<? super R> actual) {
        run(
            new Composed<>(namespace, operation, null, known -> official),
            Route.UNKNOWN_SESSION,
            actual);
      }
    };
  }

  /** Where an operation would go now. */
  Mono<RouteExplanation> explain(String namespace, Function<RoutingTable, Target> targeting) {
    return table(namespace)
        .map(
            found -> {
              RoutingTable table = found.orElse(null);
              if (table == null) {
                return new RouteExplanation(
                    namespace,
                    RouteDecision.NO_TABLE,
                    List.of(),
                    List.of(),
                    "there is no routing table",
                    null);
              }
              Target target = targeting.apply(table);
              Route route = decide(target);
              return new RouteExplanation(
                  namespace,
                  route.decision(),
                  target.shards(),
                  route.client() == null ? List.of() : route.client().servers(),
                  target.reason(),
                  catalog.age(namespace).orElse(null));
            });
  }

  /** The table that operations on a collection are routed by now; empty if there is none. */
  Mono<Optional<RoutingTable>> table(String namespace) {
    return Mono.defer(
        () -> {
          RoutingTable table = catalog.cached(namespace);
          return table != null || isUnroutable(namespace)
              ? Mono.just(Optional.ofNullable(table))
              : firstTable(namespace).map(Optional::of).defaultIfEmpty(Optional.empty());
        });
  }

  /** Where an operation would go now, as far as that is known without waiting for a table. */
  Route now(String namespace, Function<RoutingTable, Target> targeting) {
    return decide(catalog.cached(namespace), targeting);
  }

  /** Starts with the collection's table, with null where none is to be had. */
  <R> void start(Routable<R> operation, CoreSubscriber<? super R> actual) {
    String namespace = operation.namespace();
    RoutingTable table = catalog.cached(namespace);
    if (table != null || isUnroutable(namespace)) {
      run(operation, decide(table, operation::target), actual);
      return;
    }
    table(namespace)
        .<R>flatMapMany(
            loaded ->
                new Flux<R>() {
                  @Override
                  public void subscribe(CoreSubscriber<? super R> later) {
                    run(operation, decide(loaded.orElse(null), operation::target), later);
                  }
                })
        .subscribe(actual);
  }

  /**
   * Starts where the session's transaction is, or else where the operation belongs.
   *
   * @param enter makes the operation of the place that the session is about to enter
   */
  private <R> void startInSession(
      RoutedSession session,
      String namespace,
      String operation,
      Function<RoutingTable, Target> targeting,
      Function<Place, Publisher<R>> call,
      Function<Mono<Place>, Publisher<R>> enter,
      CoreSubscriber<? super R> actual) {
    Place place = session.transactionPlace();
    if (place != null) {
      run(
          new Composed<>(namespace, operation, null, known -> call.apply(place)),
          Route.ofTransaction(place),
          actual);
    } else {
      start(
          new Composed<>(
              namespace, operation, targeting, route -> enter.apply(session.place(route.client()))),
          actual);
    }
  }

  private <R> void run(Routable<R> operation, Route route, CoreSubscriber<? super R> actual) {
    Publisher<R> publisher;
    try {
      publisher = operation.on(route);
    } catch (RuntimeException e) {
      Operators.error(actual, e);
      return;
    }
    Observation observation =
        observations.areOn()
            ? observations.start(
                operation.namespace(), operation.operation(), route, actual.currentContext())
            : null;
    publisher.subscribe(new MeasuredSubscriber<>(this, operation, route, observation, actual));
  }

  /** An operation of parts; without a targeting, one whose route is known. */
  private record Composed<R>(
      String namespace,
      String operation,
      @Nullable Function<RoutingTable, Target> targeting,
      Function<Route, Publisher<R>> call)
      implements Routable<R> {

    @Override
    public Target target(RoutingTable table) {
      if (targeting == null) {
        throw new IllegalStateException("the route is decided");
      }
      return targeting.apply(table);
    }

    @Override
    public Publisher<R> on(Route route) {
      return call.apply(route);
    }
  }

  /** An operation has ended. */
  void ended(Routable<?> operation, Route route, Outcome outcome, long nanos, long now) {
    String name = operation.operation();
    ShardClient client = route.client();
    String shard = route.shard();
    ServerAddress server = client == null ? clients.nearestServer() : client.server();
    metrics.operation(name, route.decision(), shard, server, outcome, nanos);
    if (shard == null) {
      return;
    }
    if (route.decision() == RouteDecision.NO_ROUTER_BESIDE) {
      metrics.fallback(shard, false);
    } else if (client == null || client.isFallingBack()) {
      metrics.fallback(shard, true);
    } else if (outcome == Outcome.OK && latencies.isSuspicious(name, shard, nanos, now)) {
      catalog.suspect(operation.namespace());
    }
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
    return decide(target);
  }

  private Route decide(Target target) {
    if (!target.isSingleShard()) {
      return Route.SEVERAL;
    }
    String shard = target.shard();
    ShardClient client = clients.find(shard);
    RouteDecision decision =
        client != null && clients.isBeside(shard)
            ? RouteDecision.OWNER
            : RouteDecision.NO_ROUTER_BESIDE;
    Route route = routes.get(shard);
    if (route == null || route.client() != client || route.decision() != decision) {
      route = new Route(decision, shard, client);
      routes.put(shard, route);
    }
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
