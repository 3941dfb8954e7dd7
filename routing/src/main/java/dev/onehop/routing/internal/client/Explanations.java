package dev.onehop.routing.internal.client;

import com.mongodb.ServerAddress;
import com.mongodb.client.model.WriteModel;
import com.mongodb.reactivestreams.client.MongoCollection;
import dev.onehop.core.table.RoutingTable;
import dev.onehop.core.targeting.Target;
import dev.onehop.routing.RouteDecision;
import dev.onehop.routing.RouteExplanation;
import dev.onehop.routing.internal.catalog.UnknownNamespaceException;
import dev.onehop.routing.internal.command.CommandRouter;
import dev.onehop.routing.internal.router.RouterHandles;
import java.util.List;
import java.util.function.Function;
import org.bson.conversions.Bson;
import reactor.core.publisher.Mono;

/** Explains routes, for {@link dev.onehop.routing.OneHop}. */
public final class Explanations {
  private Explanations() {}

  /** Where a read with this filter would go. */
  public static <D> Mono<RouteExplanation> read(MongoCollection<D> collection, Bson filter) {
    return explain(collection, targets -> targets.find(filter, null, null));
  }

  /** Where a write would go. */
  public static <D> Mono<RouteExplanation> write(
      MongoCollection<D> collection, WriteModel<? extends D> model) {
    return explain(collection, targets -> targets.model(targets.withId(model)));
  }

  private static <D> Mono<RouteExplanation> explain(
      MongoCollection<D> collection,
      Function<OperationTargets<D>, Function<RoutingTable, Target>> operation) {
    return collection instanceof RoutedCollection<D> routed
        ? routed.routes().explain(operation)
        : RouterHandles.of(collection)
            .flatMap(
                router ->
                    direct(
                        router,
                        collection.getNamespace().getFullName(),
                        operation.apply(new OperationTargets<>(collection))));
  }

  private static Mono<RouteExplanation> direct(
      CommandRouter router, String namespace, Function<RoutingTable, Target> targeting) {
    return router
        .table(namespace)
        .map(
            table -> {
              Target target = targeting.apply(table);
              return new RouteExplanation(
                  namespace,
                  router.decision(target),
                  target.shards(),
                  router.destinations(target).stream()
                      .map(server -> new ServerAddress(server.host(), server.port()))
                      .toList(),
                  target.reason(),
                  router.tableAge(namespace).orElse(null));
            })
        .onErrorReturn(
            UnknownNamespaceException.class,
            new RouteExplanation(
                namespace,
                RouteDecision.NO_TABLE,
                List.of(),
                List.of(),
                "there is no routing table",
                null));
  }
}
