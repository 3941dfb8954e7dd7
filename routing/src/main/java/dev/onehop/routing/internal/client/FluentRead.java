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
 * there.
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
  private P nearest;
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
    this.nearest =
        call.apply(routes.nearest(), session == null ? null : RoutedSession.onNearest(session));
  }

  /** What the read touches, as it is set now. */
  abstract Function<RoutingTable, Target> targeting(
      OperationTargets<D> targets, @Nullable Collation collation, @Nullable Bson variables);

  final void set(UnaryOperator<P> setting) {
    nearest = setting.apply(nearest);
    settings.add(setting);
  }

  final void collate(@Nullable Collation with) {
    collation = with;
  }

  final void variables(@Nullable Bson with) {
    variables = with;
  }

  /** The publisher on the nearest mongos, for what is never routed. */
  final P nearest() {
    return nearest;
  }

  final <E> Flux<E> routed(Function<P, Publisher<E>> read) {
    if (session == null) {
      return routes.routed(new Routed<>(read));
    }
    RoutedSession ours = routes.ours(session);
    return ours == null
        ? Flux.from(read.apply(nearest))
        : routes.routed(ours, operation, this::target, place -> read.apply(at(place)));
  }

  /** A read with one result or none. */
  final <E> Mono<E> routedOne(Function<P, Publisher<E>> read) {
    if (session == null) {
      return routes.routedOne(new Routed<>(read));
    }
    RoutedSession ours = routes.ours(session);
    return ours == null
        ? Mono.from(read.apply(nearest))
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
  }

  private P at(MongoCollection<D> where) {
    return where == routes.nearest() ? nearest : set(call.apply(where, null));
  }

  private P at(Place place) {
    return place.client() == null
        ? nearest
        : set(call.apply(routes.at(place.client()), place.session()));
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
