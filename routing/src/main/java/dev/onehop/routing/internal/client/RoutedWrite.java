package dev.onehop.routing.internal.client;

import com.mongodb.reactivestreams.client.MongoCollection;
import dev.onehop.core.table.RoutingTable;
import dev.onehop.core.targeting.Target;
import java.util.function.Function;
import org.reactivestreams.Publisher;

/** A write with one result, sent once more if nothing was sent. */
final class RoutedWrite<D, R> extends RoutedCall<D, R> {
  private final NothingSent nothingSent;
  private final CollectionRoutes<D> routes;
  private final boolean onlySingle;

  /**
   * @param onlySingle whether it writes one document at most
   */
  RoutedWrite(
      OperationRouter router,
      CollectionRoutes<D> routes,
      String operation,
      boolean onlySingle,
      Function<RoutingTable, Target> targeting,
      Function<MongoCollection<D>, Publisher<R>> call) {
    super(router, routes, operation, targeting, call);
    this.nothingSent = router.nothingSent();
    this.routes = routes;
    this.onlySingle = onlySingle;
  }

  @Override
  public boolean isUnsent(Throwable failure) {
    return nothingSent.isUnsent(failure, onlySingle, routes.nearest().getWriteConcern());
  }
}
