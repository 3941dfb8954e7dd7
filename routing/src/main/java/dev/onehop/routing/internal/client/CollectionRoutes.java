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
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
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
  // The same collection on the clients of the shards, made when first needed.
  private final Map<ShardClient, MongoCollection<D>> owners = new ConcurrentHashMap<>();

  CollectionRoutes(MongoCollection<D> nearest, OperationRouter router) {
    this.nearest = nearest;
    this.router = router;
    this.targets = new OperationTargets<>(nearest);
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
    return router.routeInSession(session, namespace(), operation, targeting, call);
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
    return router.routeOneInSession(session, namespace(), operation, targeting, call);
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
                : router
                    .nothingSent()
                    .again(onlySingle, where.getWriteConcern(), () -> call.apply(where, session)));
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
        : routedOne(
            session,
            operation,
            targeting,
            place -> call.apply(at(place.client()), place.session()));
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
          return Mono.from(
              router.routeAll(
                  namespace(),
                  targets(models),
                  routes ->
                      new BulkSplit<>(models, routes, options.isOrdered())
                          .write(
                              part ->
                                  router.part(
                                      namespace(),
                                      operation,
                                      part.route(),
                                      write(at(part.route().client()), part.models(), options)))));
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
          return session.hasActiveTransaction()
              ? whole(session, operation, models, options)
              : Mono.from(
                  router.routeAll(
                      namespace(),
                      targets(models),
                      routes ->
                          new BulkSplit<>(models, routes, options.isOrdered())
                              .inTurn()
                              .write(
                                  part ->
                                      router.part(
                                          namespace(),
                                          operation,
                                          part.route(),
                                          write(session, part.route(), part.models(), options)))));
        });
  }

  private Mono<BulkWriteResult> write(
      MongoCollection<D> where, List<WriteModel<? extends D>> models, BulkWriteOptions options) {
    return router
        .nothingSent()
        .again(
            NothingSent.onlySingle(models),
            where.getWriteConcern(),
            () -> where.bulkWrite(models, options));
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
        place -> at(place.client()).bulkWrite(place.session(), models, options));
  }

  private Mono<BulkWriteResult> write(
      RoutedSession session,
      Route route,
      List<WriteModel<? extends D>> models,
      BulkWriteOptions options) {
    return session
        .place(route.client())
        .flatMap(
            place -> Mono.from(at(place.client()).bulkWrite(place.session(), models, options)));
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
