package dev.onehop.routing.internal.client;

import com.mongodb.client.model.Collation;
import com.mongodb.reactivestreams.client.ClientSession;
import com.mongodb.reactivestreams.client.MongoCollection;
import dev.onehop.core.table.RoutingTable;
import dev.onehop.core.targeting.Target;
import dev.onehop.routing.internal.client.OperationRouter.Route;
import dev.onehop.routing.internal.client.RoutedSession.Place;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import org.bson.conversions.Bson;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import org.reactivestreams.Subscriber;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * A read whose options are set one by one before it runs: they are set on the publisher of the
 * nearest mongos at once, which checks them, and again on the owner's when the read is routed
 * there. Where there is nothing to check, no more than the publisher that runs is made.
 *
 * @param <D> the collection's type
 * @param <R> the results' type
 * @param <P> the kind of publisher
 */
abstract class FluentRead<D, R, P extends Publisher<R>> {
  private final CollectionRoutes<D> routes;
  private final @Nullable ClientSession session;
  private final String operation;
  private final BiFunction<MongoCollection<D>, @Nullable ClientSession, P> call;
  private final List<UnaryOperator<P>> settings = new ArrayList<>(0);
  private @Nullable P nearest;
  private @Nullable Collation collation;
  private @Nullable Bson variables;

  /**
   * @param session the explicit session, null for none
   * @param call the read on an official collection, with its session if there is one
   */
  FluentRead(
      CollectionRoutes<D> routes,
      @Nullable ClientSession session,
      String operation,
      BiFunction<MongoCollection<D>, @Nullable ClientSession, P> call) {
    this.routes = routes;
    this.session = session;
    this.operation = operation;
    this.call = call;
  }

  /** What the read touches, as it is set now. */
  abstract Function<RoutingTable, Target> targeting(
      OperationTargets<D> targets, @Nullable Collation collation, @Nullable Bson variables);

  final void set(UnaryOperator<P> setting) {
    nearest = setting.apply(nearest());
    settings.add(setting);
  }

  final void collate(@Nullable Collation with) {
    collation = with;
  }

  final void variables(@Nullable Bson with) {
    variables = with;
  }

  /** The publisher on the nearest mongos, made if it wasn't: arguments are checked by then. */
  final P nearest() {
    P made = nearest;
    if (made == null) {
      made = onNearest();
      nearest = made;
    }
    return made;
  }

  private P onNearest() {
    return call.apply(routes.nearest(), session == null ? null : RoutedSession.onNearest(session));
  }

  final <E> Flux<E> routed(Function<P, Publisher<E>> read) {
    if (session == null) {
      return routes.routed(new Routed<>(read));
    }
    RoutedSession ours = routes.ours(session);
    return ours == null
        ? routes.ofUnknownSession(operation, read.apply(nearest()))
        : routes.routed(ours, operation, this::target, place -> read.apply(at(place)));
  }

  /** A read with one result or none. */
  final <E> Mono<E> routedOne(Function<P, Publisher<E>> read) {
    if (session == null) {
      return routes.routedOne(new Routed<>(read));
    }
    RoutedSession ours = routes.ours(session);
    return ours == null
        ? Mono.from(routes.ofUnknownSession(operation, read.apply(nearest())))
        : routes.routedOne(ours, operation, this::target, place -> read.apply(at(place)));
  }

  private Target target(RoutingTable table) {
    return targeting(routes.targets(), collation, variables).apply(table);
  }

  /** One way to read, without a session. */
  private final class Routed<E> implements Routable<E> {
    private final Function<P, Publisher<E>> read;

    Routed(Function<P, Publisher<E>> read) {
      this.read = read;
    }

    @Override
    public String namespace() {
      return routes.namespace();
    }

    @Override
    public String operation() {
      return operation;
    }

    @Override
    public Target target(RoutingTable table) {
      return FluentRead.this.target(table);
    }

    @Override
    public Publisher<E> on(Route route) {
      return read.apply(at(routes.at(route.client())));
    }

    @Override
    public Publisher<E> on(Route route, @Nullable Deadline deadline) {
      return read.apply(at(Deadline.limit(deadline, routes.at(route.client()))));
    }

    @Override
    public @Nullable Long timeoutMillis() {
      return routes.timeoutMillis();
    }
  }

  private P at(MongoCollection<D> where) {
    return where == routes.nearest() ? ofNearest() : set(call.apply(where, null));
  }

  private P at(Place place) {
    MongoCollection<D> where = routes.at(place);
    return where == routes.nearest() ? ofNearest() : set(call.apply(where, place.session()));
  }

  /** Kept only where it was made before, as subscriptions may be on several threads. */
  private P ofNearest() {
    P made = nearest;
    return made == null ? onNearest() : made;
  }

  private P set(P publisher) {
    P configured = publisher;
    for (UnaryOperator<P> setting : settings) {
      configured = setting.apply(configured);
    }
    return configured;
  }

  /** Starts the read. */
  public final void subscribe(Subscriber<? super R> subscriber) {
    routed(publisher -> publisher).subscribe(subscriber);
  }
}
