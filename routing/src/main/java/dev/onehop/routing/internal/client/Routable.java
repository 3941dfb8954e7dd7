package dev.onehop.routing.internal.client;

import dev.onehop.core.table.RoutingTable;
import dev.onehop.core.targeting.Target;
import dev.onehop.routing.internal.client.OperationRouter.Route;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;

/**
 * An operation whose route is decided when it is subscribed to.
 *
 * @param <R> the type of its results
 */
interface Routable<R> {
  /** Of the collection. */
  String namespace();

  /** Its name for the metrics. */
  String operation();

  /** What it touches, by a routing table. */
  Target target(RoutingTable table);

  /** The official client's operation where a route leads; subscribed to once. */
  Publisher<R> on(Route route);

  /** The same when a part of the operation's time is over. */
  default Publisher<R> on(Route route, @Nullable Deadline deadline) {
    return on(route);
  }

  /** Its {@code timeoutMS}, null for none. */
  default @Nullable Long timeoutMillis() {
    return null;
  }

  /** Whether a failure proves that nothing was sent; asked of operations with one result only. */
  default boolean isUnsent(Throwable failure) {
    return false;
  }
}
