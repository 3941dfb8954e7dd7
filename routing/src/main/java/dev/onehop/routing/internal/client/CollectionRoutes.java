package dev.onehop.routing.internal.client;

import static com.mongodb.assertions.Assertions.notNull;

import com.mongodb.bulk.BulkWriteResult;
import com.mongodb.client.model.BulkWriteOptions;
import com.mongodb.client.model.WriteModel;
import com.mongodb.reactivestreams.client.ClientSession;
import com.mongodb.reactivestreams.client.MongoCollection;
import dev.onehop.core.table.RoutingTable;
import dev.onehop.core.targeting.Target;
import dev.onehop.routing.RouteExplanation;
import dev.onehop.routing.internal.affinity.ShardClients.ShardClient;
import dev.onehop.routing.internal.client.OperationRouter.Route;
import dev.onehop.routing.internal.client.RoutedSession.Place;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.BiFunction;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * One collection on all clients, and the ways of its operations there, with a session and without.
 *
 * <p>Thread-safe.
 *
 * @param <D> the type of the collection's documents
 */
final class CollectionRoutes<D> {
  private final MongoCollection<D> nearest;
  private final OperationRouter router;
  private final OperationTargets<D> targets;
  private final @Nullable Long timeoutMillis;
  // The same collection on the clients of the shards, made when first needed.
  private final Map<ShardClient, MongoCollection<D>> owners = new ConcurrentHashMap<>();

  CollectionRoutes(MongoCollection<D> nearest, OperationRouter router) {
    this.nearest = nearest;
    this.router = router;
    this.targets = new OperationTargets<>(nearest);
    this.timeoutMillis = nearest.getTimeout(TimeUnit.MILLISECONDS);
  }

  MongoCollection<D> nearest() {
    return nearest;
  }

  OperationTargets<D> targets() {
    return targets;
  }

  /** The collection on a client, null for the nearest mongos. */
  MongoCollection<D> at(@Nullable ShardClient client) {
    if (client == null) {
      return nearest;
    }
    MongoCollection<D> owner = owners.get(client);
    return owner != null
        ? owner
        : owners.computeIfAbsent(
            client, there -> router.counterpart().collection(there.client(), nearest));
  }

  /** The collection in a session, with what an operation has left of its time. */
  MongoCollection<D> at(Place place) {
    return Deadline.limit(place.deadline(), at(place.client()));
  }

  /** The {@code timeoutMS} of the collection's operations, null for none. */
  @Nullable Long timeoutMillis() {
    return timeoutMillis;
  }

  /** Runs a read. */
  <R> Flux<R> routed(Routable<R> read) {
    return router.route(read);
  }

  /** The same, of a session of this client. */
  <R> Flux<R> routed(
      RoutedSession session,
      String operation,
      Function<RoutingTable, Target> targeting,
      Function<Place, Publisher<R>> call) {
    return router.routeInSession(session, namespace(), operation, timeoutMillis, targeting, call);
  }

  /** The same for a read with one result or none. */
  <R> Mono<R> routedOne(Routable<R> read) {
    return router.routeOne(read);
  }

  /** The same, of a session of this client. */
  <R> Mono<R> routedOne(
      RoutedSession session,
      String operation,
      Function<RoutingTable, Target> targeting,
      Function<Place, Publisher<R>> call) {
    return router.routeOneInSession(
        session, namespace(), operation, timeoutMillis, targeting, call);
  }

  /** Where an operation would go now. */
  Mono<RouteExplanation> explain(
      Function<OperationTargets<D>, Function<RoutingTable, Target>> operation) {
    return router.explain(namespace(), operation.apply(targets));
  }

  /** An operation with one result, whose arguments the official client checks at once. */
  <R> Mono<R> single(
      String operation,
      Function<RoutingTable, Target> targeting,
      Function<MongoCollection<D>, Publisher<R>> call) {
    return new RoutedCall<>(router, this, operation, targeting, call);
  }

  /**
   * A write with one result.
   *
   * @param onlySingle whether it writes one document at most
   */
  <R> Mono<R> write(
      String operation,
      boolean onlySingle,
      Function<RoutingTable, Target> targeting,
      Function<MongoCollection<D>, Publisher<R>> call) {
    return new RoutedWrite<>(router, this, operation, onlySingle, targeting, call);
  }

  /** The same, of an explicit session. */
  <R> Mono<R> write(
      ClientSession clientSession,
      String operation,
      boolean onlySingle,
      Function<RoutingTable, Target> targeting,
      BiFunction<MongoCollection<D>, ClientSession, Publisher<R>> call) {
    return single(
        clientSession,
        operation,
        targeting,
        (where, session) ->
            session.hasActiveTransaction()
                ? call.apply(where, session)
                : again(onlySingle, where, limited -> call.apply(limited, session)));
  }

  /** The same, of an explicit session. */
  <R> Mono<R> single(
      ClientSession clientSession,
      String operation,
      Function<RoutingTable, Target> targeting,
      BiFunction<MongoCollection<D>, ClientSession, Publisher<R>> call) {
    Publisher<R> checked =
        call.apply(nearest, RoutedSession.checking(notNull("clientSession", clientSession)));
    RoutedSession session = ours(clientSession);
    return session == null
        ? Mono.from(ofUnknownSession(operation, checked))
        : routedOne(session, operation, targeting, place -> call.apply(at(place), place.session()));
  }

  /** An operation of an explicit session that has no route. */
  <R> Flux<R> unrouted(
      ClientSession clientSession,
      BiFunction<MongoCollection<D>, ClientSession, Publisher<R>> call) {
    return RoutedSession.unrouted(router, clientSession, nearest, this::at, call);
  }

  /** An operation of a session that this client did not start: the official client refuses most. */
  <R> Flux<R> ofUnknownSession(String operation, Publisher<R> official) {
    return router.ofUnknownSession(namespace(), operation, official);
  }

  ClusterTimes times() {
    return router.times();
  }

  @Nullable RoutedSession ours(ClientSession clientSession) {
    return RoutedSession.of(router, clientSession);
  }

  /** A bulk, split by where its models belong. */
  Mono<BulkWriteResult> split(
      String operation,
      List<? extends WriteModel<? extends D>> requests,
      BulkWriteOptions options) {
    return Mono.defer(
        () -> {
          List<WriteModel<? extends D>> models = withIds(requests);
          Deadline deadline = Deadline.in(timeoutMillis);
          return router.routeAll(
              namespace(),
              deadline,
              targets(models),
              routes ->
                  split(models, routes, options, false)
                      .write(
                          part ->
                              router.part(
                                  namespace(),
                                  operation,
                                  part.route(),
                                  write(
                                      Deadline.limit(deadline, at(part.route().client())),
                                      part.models(),
                                      options))));
        });
  }

  /**
   * The same, in a session: one part after the other, as a session is for one operation at a time;
   * in a transaction all on its mongos, or on that of the first model.
   */
  Mono<BulkWriteResult> split(
      RoutedSession session,
      String operation,
      List<? extends WriteModel<? extends D>> requests,
      BulkWriteOptions options) {
    return Mono.defer(
        () -> {
          List<WriteModel<? extends D>> models = withIds(requests);
          Deadline deadline = Deadline.in(timeoutMillis);
          return session.hasActiveTransaction()
              ? whole(session, operation, models, options)
              : router.routeAll(
                  namespace(),
                  deadline,
                  targets(models),
                  routes ->
                      split(models, routes, options, true)
                          .write(
                              part ->
                                  router.part(
                                      namespace(),
                                      operation,
                                      part.route(),
                                      write(
                                          session,
                                          part.route(),
                                          deadline,
                                          part.models(),
                                          options))));
        });
  }

  /**
   * The parts of a bulk, or all of it as one for the nearest mongos: where parts that wait for each
   * other would take longer, and where they can't, as they are not acknowledged.
   *
   * @param inTurn whether unordered parts run one after the other, too
   */
  private BulkSplit<D> split(
      List<WriteModel<? extends D>> models,
      List<Route> routes,
      BulkWriteOptions options,
      boolean inTurn) {
    boolean ordered = options.isOrdered();
    BulkSplit<D> split = new BulkSplit<>(models, routes, ordered);
    List<Route> parts = split.parts().stream().map(BulkSplit.Part::route).toList();
    if (parts.size() > 1
        && (ordered || inTurn)
        && !(nearest.getWriteConcern().isAcknowledged() && router.paysToSplit(parts, ordered))) {
      split = new BulkSplit<>(models, Collections.nCopies(models.size(), Route.SEVERAL), ordered);
    }
    return inTurn ? split.inTurn() : split;
  }

  private Mono<BulkWriteResult> write(
      MongoCollection<D> where, List<WriteModel<? extends D>> models, BulkWriteOptions options) {
    return again(
        NothingSent.onlySingle(models), where, limited -> limited.bulkWrite(models, options));
  }

  /** A write that is sent once more, in what is left of its time, if nothing was sent. */
  private <R> Mono<R> again(
      boolean onlySingle,
      MongoCollection<D> where,
      Function<MongoCollection<D>, Publisher<R>> write) {
    Deadline deadline = Deadline.in(where.getTimeout(TimeUnit.MILLISECONDS));
    return router
        .nothingSent()
        .again(
            onlySingle,
            where.getWriteConcern(),
            () -> write.apply(Deadline.limit(deadline, where)));
  }

  private Mono<BulkWriteResult> whole(
      RoutedSession session,
      String operation,
      List<WriteModel<? extends D>> models,
      BulkWriteOptions options) {
    return routedOne(
        session,
        operation,
        targets.model(models.get(0)),
        place -> at(place).bulkWrite(place.session(), models, options));
  }

  private Mono<BulkWriteResult> write(
      RoutedSession session,
      Route route,
      @Nullable Deadline deadline,
      List<WriteModel<? extends D>> models,
      BulkWriteOptions options) {
    return session
        .place(route.client(), deadline)
        .flatMap(place -> Mono.from(at(place).bulkWrite(place.session(), models, options)));
  }

  private List<WriteModel<? extends D>> withIds(List<? extends WriteModel<? extends D>> requests) {
    return requests.stream().<WriteModel<? extends D>>map(targets::withId).toList();
  }

  private List<Function<RoutingTable, Target>> targets(List<WriteModel<? extends D>> models) {
    return models.stream().map(targets::model).toList();
  }

  String namespace() {
    return nearest.getNamespace().getFullName();
  }
}
