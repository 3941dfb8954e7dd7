package dev.onehop.routing.internal.client;

import com.mongodb.client.model.Collation;
import com.mongodb.reactivestreams.client.MongoCollection;
import dev.onehop.core.table.RoutingTable;
import dev.onehop.core.targeting.Target;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import org.bson.conversions.Bson;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import org.reactivestreams.Subscriber;
import reactor.core.publisher.Flux;

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
  private final RoutedCollection<D> collection;
  private final String operation;
  private final Function<MongoCollection<D>, P> call;
  private final List<UnaryOperator<P>> settings = new ArrayList<>(0);
  private P nearest;
  private @Nullable Collation collation;
  private @Nullable Bson variables;

  FluentRead(
      RoutedCollection<D> collection, String operation, Function<MongoCollection<D>, P> call) {
    this.collection = collection;
    this.operation = operation;
    this.call = call;
    this.nearest = call.apply(collection.nearest());
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
    return collection.routed(
        operation,
        targeting(collection.targets(), collation, variables),
        where -> {
          P publisher = nearest;
          if (where != collection.nearest()) {
            publisher = call.apply(where);
            for (UnaryOperator<P> setting : settings) {
              publisher = setting.apply(publisher);
            }
          }
          return read.apply(publisher);
        });
  }

  /** Starts the read. */
  public final void subscribe(Subscriber<? super R> subscriber) {
    routed(publisher -> publisher).subscribe(subscriber);
  }
}
