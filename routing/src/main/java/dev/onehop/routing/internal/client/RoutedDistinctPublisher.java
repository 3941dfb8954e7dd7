package dev.onehop.routing.internal.client;

import com.mongodb.client.cursor.TimeoutMode;
import com.mongodb.client.model.Collation;
import com.mongodb.reactivestreams.client.ClientSession;
import com.mongodb.reactivestreams.client.DistinctPublisher;
import com.mongodb.reactivestreams.client.MongoCollection;
import dev.onehop.core.table.RoutingTable;
import dev.onehop.core.targeting.Target;
import java.util.concurrent.TimeUnit;
import java.util.function.BiFunction;
import java.util.function.Function;
import org.bson.BsonValue;
import org.bson.conversions.Bson;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;

/** A distinct that is routed when it is subscribed to, by what it was set to last. */
final class RoutedDistinctPublisher<D, TResult>
    extends FluentRead<D, TResult, DistinctPublisher<TResult>>
    implements DistinctPublisher<TResult> {
  private @Nullable Bson query;

  RoutedDistinctPublisher(
      CollectionRoutes<D> routes,
      @Nullable ClientSession session,
      @Nullable Bson filter,
      BiFunction<MongoCollection<D>, @Nullable ClientSession, DistinctPublisher<TResult>> call) {
    super(routes, session, "distinct", call);
    this.query = filter;
    var unused = nearest();
  }

  @Override
  Function<RoutingTable, Target> targeting(
      OperationTargets<D> targets, @Nullable Collation collation, @Nullable Bson variables) {
    return targets.find(query, collation, variables);
  }

  @Override
  public DistinctPublisher<TResult> filter(@Nullable Bson filter) {
    set(publisher -> publisher.filter(filter));
    query = filter;
    return this;
  }

  @Override
  public DistinctPublisher<TResult> maxTime(long maxTime, TimeUnit timeUnit) {
    set(publisher -> publisher.maxTime(maxTime, timeUnit));
    return this;
  }

  @Override
  public DistinctPublisher<TResult> collation(@Nullable Collation collation) {
    set(publisher -> publisher.collation(collation));
    collate(collation);
    return this;
  }

  @Override
  public DistinctPublisher<TResult> batchSize(int batchSize) {
    set(publisher -> publisher.batchSize(batchSize));
    return this;
  }

  @Override
  public DistinctPublisher<TResult> comment(@Nullable String comment) {
    set(publisher -> publisher.comment(comment));
    return this;
  }

  @Override
  public DistinctPublisher<TResult> comment(@Nullable BsonValue comment) {
    set(publisher -> publisher.comment(comment));
    return this;
  }

  @Override
  public DistinctPublisher<TResult> hint(@Nullable Bson hint) {
    set(publisher -> publisher.hint(hint));
    return this;
  }

  @Override
  public DistinctPublisher<TResult> hintString(@Nullable String hint) {
    set(publisher -> publisher.hintString(hint));
    return this;
  }

  @Override
  public DistinctPublisher<TResult> timeoutMode(TimeoutMode timeoutMode) {
    set(publisher -> publisher.timeoutMode(timeoutMode));
    return this;
  }

  @Override
  public Publisher<TResult> first() {
    return routedOne(publisher -> publisher.first());
  }
}
