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
import dev.onehop.routing.internal.targeted.Latencies;
import dev.onehop.routing.internal.targeted.UnroutedNotice;
import io.micrometer.observation.Observation;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeoutException;
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

  private static final double HARDLY_LONGER = 4 / 3.0;

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

  private final UnroutedNotice notice = new UnroutedNotice(log);

  /** Where one operation goes; the client is null for the nearest mongos. */
  record Route(RouteDecision decision, @Nullable String shard, @Nullable ShardClient client) {
    private static final Route NO_TABLE = new Route(RouteDecision.NO_TABLE, null, null);
    private static final Route UNKNOWN_SESSION =
        new Route(RouteDecision.UNKNOWN_SESSION, null, null);
    static final Route SEVERAL = new Route(RouteDecision.SEVERAL_SHARDS, null, null);

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
    // What can't be read in a moment is waited for once, by all that come meanwhile.
    this.affinityReady = affinityReady.timeout(RoutingCatalog.MOMENT, Mono.empty()).cache();
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
   * @param timeoutMillis the operation's {@code timeoutMS} outside of transactions, null for none
   * @param call the operation at a place, called once per subscription
   */
  <R> Flux<R> routeInSession(
      RoutedSession session,
      String namespace,
      String operation,
      @Nullable Long timeoutMillis,
      Function<RoutingTable, Target> targeting,
      Function<Place, Publisher<R>> call) {
    return new Flux<>() {
      @Override
      public void subscribe(CoreSubscriber<? super R> actual) {
        startInSession(
            session,
            namespace,
            operation,
            timeoutMillis,
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
      @Nullable Long timeoutMillis,
      Function<RoutingTable, Target> targeting,
      Function<Place, Publisher<R>> call) {
    return new Mono<>() {
      @Override
      public void subscribe(CoreSubscriber<? super R> actual) {
        startInSession(
            session,
            namespace,
            operation,
            timeoutMillis,
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
   * @param deadline of the operation, null for none
   * @param call runs the operation, with one route for each targeting; it measures the parts with
   *     {@link #part}
   */
  <R> Mono<R> routeAll(
      String namespace,
      @Nullable Deadline deadline,
      List<Function<RoutingTable, Target>> targeting,
      Function<List<Route>, Mono<R>> call) {
    return table(namespace, deadline)
        .flatMap(
            found -> {
              RoutingTable table = found.orElse(null);
              List<Route> routes = targeting.stream().map(each -> decide(table, each)).toList();
              // The last part may begin long after the first.
              return Mono.using(
                  () -> inUse(routes),
                  used -> call.apply(routes),
                  used -> used.forEach(ShardClient::release));
            });
  }

  private static Set<ShardClient> inUse(List<Route> routes) {
    Set<ShardClient> used = new HashSet<>();
    for (Route route : routes) {
      if (route.client() != null && used.add(route.client())) {
        route.client().use();
      }
    }
    return used;
  }

  /** A part of an operation, whose route is known. */
  <R> Mono<R> part(String namespace, String operation, Route route, Publisher<R> publisher) {
    return new Mono<>() {
      @Override
      public void subscribe(CoreSubscriber<? super R> actual) {
        run(Composed.known(namespace, operation, known -> publisher), route, null, actual);
      }
    };
  }

  /**
   * Whether parts of a write, one after the other, take hardly longer than the nearest mongos takes
   * for the whole. That has a way to each shard, too, but one that may be much shorter: no shorter
   * than the difference between the shard's distance and its own.
   *
   * @param inTurn whether the mongos, too, works on one part after the other
   */
  boolean paysToSplit(List<Route> parts, boolean inTurn) {
    double nearest = clients.nearestRoundTripNanos();
    Map<Route, Double> distances = new HashMap<>();
    double split = 0;
    double whole = 0;
    for (Route part : parts) {
      double there =
          distances.computeIfAbsent(
              part,
              route -> route.client() == null ? nearest : (double) route.client().roundTripNanos());
      double beyond = Math.abs(there - nearest);
      split += there;
      whole = inTurn ? whole + beyond : Math.max(whole, beyond);
    }
    return split <= (nearest + whole) * HARDLY_LONGER;
  }

  /** An operation of a session that this client did not start. */
  <R> Flux<R> ofUnknownSession(String namespace, String operation, Publisher<R> official) {
    return new Flux<>() {
      @Override
      public void subscribe(CoreSubscriber<? super R> actual) {
        run(
            Composed.known(namespace, operation, known -> official),
            Route.UNKNOWN_SESSION,
            null,
            actual);
      }
    };
  }

  /** Where an operation would go now. */
  Mono<RouteExplanation> explain(String namespace, Function<RoutingTable, Target> targeting) {
    return table(namespace, null)
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

  /**
   * The table that operations on a collection are routed by now; empty if there is none.
   *
   * @param deadline of the operation that waits for it, null for none
   */
  private Mono<Optional<RoutingTable>> table(String namespace, @Nullable Deadline deadline) {
    return Mono.defer(
        () -> {
          RoutingTable table = catalog.cached(namespace);
          return table != null || isUnroutable(namespace)
              ? Mono.just(Optional.ofNullable(table))
              : firstTable(namespace, deadline).map(Optional::of).defaultIfEmpty(Optional.empty());
        });
  }

  /** Where an operation would go now, as far as that is known without waiting for a table. */
  Route now(String namespace, Function<RoutingTable, Target> targeting) {
    return decide(catalog.cached(namespace), targeting);
  }

  /** Starts with the collection's table, with null where none is to be had. */
  <R> void start(Routable<R> operation, CoreSubscriber<? super R> actual) {
    String namespace = operation.namespace();
    Deadline deadline = Deadline.in(operation.timeoutMillis());
    RoutingTable table = catalog.cached(namespace);
    if (table != null || isUnroutable(namespace)) {
      run(operation, decide(table, operation::target), null, actual);
      return;
    }
    table(namespace, deadline)
        .<R>flatMapMany(
            loaded ->
                new Flux<R>() {
                  @Override
                  public void subscribe(CoreSubscriber<? super R> later) {
                    run(operation, decide(loaded.orElse(null), operation::target), deadline, later);
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
      @Nullable Long timeoutMillis,
      Function<RoutingTable, Target> targeting,
      Function<Place, Publisher<R>> call,
      Function<Mono<Place>, Publisher<R>> enter,
      CoreSubscriber<? super R> actual) {
    Place place = session.transactionPlace();
    if (place != null) {
      run(
          Composed.known(namespace, operation, known -> call.apply(place)),
          Route.ofTransaction(place),
          null,
          actual);
    } else {
      Long timeout = session.timeoutMillis(timeoutMillis);
      Deadline deadline = Deadline.in(timeout);
      start(
          new Composed<>(
              namespace,
              operation,
              timeout,
              targeting,
              route -> enter.apply(session.place(route.client(), deadline))),
          actual);
    }
  }

  /**
   * @param deadline of an operation that has spent a part of its time, else null
   */
  private <R> void run(
      Routable<R> operation,
      Route route,
      @Nullable Deadline deadline,
      CoreSubscriber<? super R> actual) {
    Publisher<R> publisher;
    try {
      publisher = deadline == null ? operation.on(route) : operation.on(route, deadline);
    } catch (RuntimeException e) {
      Operators.error(actual, e);
      return;
    }
    Observation observation =
        observations.areOn()
            ? observations.start(
                operation.namespace(), operation.operation(), route, actual.currentContext())
            : null;
    if (route.client() != null) {
      route.client().use();
    }
    publisher.subscribe(
        new MeasuredSubscriber<>(this, operation, route, deadline, observation, actual));
  }

  /** An operation of parts; without a targeting, one whose route is known. */
  private record Composed<R>(
      String namespace,
      String operation,
      @Nullable Long timeoutMillis,
      @Nullable Function<RoutingTable, Target> targeting,
      Function<Route, Publisher<R>> call)
      implements Routable<R> {

    private static <R> Composed<R> known(
        String namespace, String operation, Function<Route, Publisher<R>> call) {
      return new Composed<>(namespace, operation, null, null, call);
    }

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

  /** An operation has ended; called once. */
  void ended(Routable<?> operation, Route route, Outcome outcome, long nanos, long now) {
    String name = operation.operation();
    ShardClient client = route.client();
    if (client != null) {
      client.release();
    }
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
  private Mono<RoutingTable> firstTable(String namespace, @Nullable Deadline deadline) {
    return affinityReady
        .then(catalog.soon(namespace))
        .switchIfEmpty(Mono.error(() -> new TimeoutException("the cluster has not answered yet")))
        // Two moments: the affinity's and the table's.
        .timeout(Deadline.preparing(deadline, RoutingCatalog.MOMENT.multipliedBy(2)))
        .onErrorResume(
            failure -> {
              notice.noTable(namespace, failure);
              return Mono.empty();
            });
  }

  /** Whether there is no table and was none to be had; it is loaded in the background then. */
  private boolean isUnroutable(String namespace) {
    if (!catalog.isMissing(namespace)) {
      return false;
    }
    catalog.loadInBackground(namespace);
    return true;
  }
}
