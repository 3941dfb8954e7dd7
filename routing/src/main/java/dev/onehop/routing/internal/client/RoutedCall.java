package dev.onehop.routing.internal.client;

import com.mongodb.reactivestreams.client.MongoCollection;
import dev.onehop.core.table.RoutingTable;
import dev.onehop.core.targeting.Target;
import dev.onehop.routing.internal.client.OperationRouter.Route;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Mono;

/**
 * An operation with one result, whose arguments the official client checks and encodes when it is
 * called, not when it is subscribed to. So the official operation is made at once, where it seems
 * to belong; if that is elsewhere by the time of the subscription, it is made again.
 */
class RoutedCall<D, R> extends Mono<R> implements Routable<R> {
  private final OperationRouter router;
  private final CollectionRoutes<D> routes;
  private final String operation;
  private final Function<RoutingTable, Target> targeting;
  private final Function<MongoCollection<D>, Publisher<R>> call;
  private final MongoCollection<D> likely;
  private final Publisher<R> official;

  /** By the table that was used last. */
  private @Nullable Target target;

  RoutedCall(
      OperationRouter router,
      CollectionRoutes<D> routes,
      String operation,
      Function<RoutingTable, Target> targeting,
      Function<MongoCollection<D>, Publisher<R>> call) {
    this.router = router;
    this.routes = routes;
    this.operation = operation;
    this.targeting = targeting;
    this.call = call;
    this.likely = routes.at(router.now(routes.namespace(), this::target).client());
    this.official = call.apply(likely);
  }

  @Override
  public final void subscribe(CoreSubscriber<? super R> actual) {
    router.start(this, actual);
  }

  @Override
  public final String namespace() {
    return routes.namespace();
  }

  @Override
  public final String operation() {
    return operation;
  }

  @Override
  public final Target target(RoutingTable table) {
    Target known = target;
    if (known == null || known.table() != table) {
      known = targeting.apply(table);
      target = known;
    }
    return known;
  }

  @Override
  public final Publisher<R> on(Route route) {
    MongoCollection<D> where = routes.at(route.client());
    return where == likely ? official : call.apply(where);
  }

  @Override
  public final Publisher<R> on(Route route, @Nullable Deadline deadline) {
    return deadline == null
        ? on(route)
        : call.apply(Deadline.limit(deadline, routes.at(route.client())));
  }

  @Override
  public final @Nullable Long timeoutMillis() {
    return routes.timeoutMillis();
  }
}
