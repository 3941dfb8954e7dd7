package dev.onehop.routing.internal.client;

import com.mongodb.client.model.WriteModel;
import com.mongodb.reactivestreams.client.MongoCollection;
import dev.onehop.routing.RouteExplanation;
import org.bson.conversions.Bson;
import reactor.core.publisher.Mono;

/** Explains routes, for {@link dev.onehop.routing.OneHop}. */
public final class Explanations {
  private Explanations() {}

  /** Where a read with this filter would go. */
  public static Mono<RouteExplanation> read(MongoCollection<?> collection, Bson filter) {
    return routes(collection).explain(targets -> targets.find(filter, null, null));
  }

  /** Where a write would go. */
  public static <D> Mono<RouteExplanation> write(
      MongoCollection<D> collection, WriteModel<? extends D> model) {
    return routes(collection).explain(targets -> targets.model(targets.withId(model)));
  }

  private static <D> CollectionRoutes<D> routes(MongoCollection<D> collection) {
    if (collection instanceof RoutedCollection<D> routed) {
      return routed.routes();
    }
    throw new IllegalArgumentException(
        "not a collection of a client that OneHop built: " + collection.getClass().getName());
  }
}
