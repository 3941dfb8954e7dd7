package dev.onehop.routing.internal.client;

import com.mongodb.ExplainVerbosity;
import com.mongodb.client.cursor.TimeoutMode;
import com.mongodb.client.model.Collation;
import com.mongodb.reactivestreams.client.AggregatePublisher;
import com.mongodb.reactivestreams.client.ClientSession;
import com.mongodb.reactivestreams.client.MongoCollection;
import dev.onehop.core.table.RoutingTable;
import dev.onehop.core.targeting.Target;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.BiFunction;
import java.util.function.Function;
import org.bson.BsonValue;
import org.bson.Document;
import org.bson.conversions.Bson;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;

/** A aggregation that is routed when it is subscribed to, by what it was set to last. */
final class RoutedAggregatePublisher<D, TResult>
    extends FluentRead<D, TResult, AggregatePublisher<TResult>>
    implements AggregatePublisher<TResult> {
  private final List<? extends Bson> pipeline;

  RoutedAggregatePublisher(
      CollectionRoutes<D> routes,
      @Nullable ClientSession session,
      List<? extends Bson> pipeline,
      BiFunction<MongoCollection<D>, @Nullable ClientSession, AggregatePublisher<TResult>> call) {
    super(routes, session, "aggregate", call);
    this.pipeline = pipeline;
    var unused = nearest();
  }

  @Override
  Function<RoutingTable, Target> targeting(
      OperationTargets<D> targets, @Nullable Collation collation, @Nullable Bson variables) {
    return targets.aggregate(pipeline, collation, variables);
  }

  @Override
  public AggregatePublisher<TResult> allowDiskUse(@Nullable Boolean allowDiskUse) {
    set(publisher -> publisher.allowDiskUse(allowDiskUse));
    return this;
  }

  @Override
  public AggregatePublisher<TResult> maxTime(long maxTime, TimeUnit timeUnit) {
    set(publisher -> publisher.maxTime(maxTime, timeUnit));
    return this;
  }

  @Override
  public AggregatePublisher<TResult> maxAwaitTime(long maxAwaitTime, TimeUnit timeUnit) {
    set(publisher -> publisher.maxAwaitTime(maxAwaitTime, timeUnit));
    return this;
  }

  @Override
  public AggregatePublisher<TResult> bypassDocumentValidation(
      @Nullable Boolean bypassDocumentValidation) {
    set(publisher -> publisher.bypassDocumentValidation(bypassDocumentValidation));
    return this;
  }

  @Override
  public Publisher<Void> toCollection() {
    // Writes a collection elsewhere: for a mongos to do.
    return nearest().toCollection();
  }

  @Override
  public AggregatePublisher<TResult> collation(@Nullable Collation collation) {
    set(publisher -> publisher.collation(collation));
    collate(collation);
    return this;
  }

  @Override
  public AggregatePublisher<TResult> comment(@Nullable String comment) {
    set(publisher -> publisher.comment(comment));
    return this;
  }

  @Override
  public AggregatePublisher<TResult> comment(@Nullable BsonValue comment) {
    set(publisher -> publisher.comment(comment));
    return this;
  }

  @Override
  public AggregatePublisher<TResult> hint(@Nullable Bson hint) {
    set(publisher -> publisher.hint(hint));
    return this;
  }

  @Override
  public AggregatePublisher<TResult> hintString(@Nullable String hint) {
    set(publisher -> publisher.hintString(hint));
    return this;
  }

  @Override
  public AggregatePublisher<TResult> let(@Nullable Bson variables) {
    set(publisher -> publisher.let(variables));
    variables(variables);
    return this;
  }

  @Override
  public AggregatePublisher<TResult> batchSize(int batchSize) {
    set(publisher -> publisher.batchSize(batchSize));
    return this;
  }

  @Override
  public AggregatePublisher<TResult> timeoutMode(TimeoutMode timeoutMode) {
    set(publisher -> publisher.timeoutMode(timeoutMode));
    return this;
  }

  @Override
  public Publisher<TResult> first() {
    return routedOne(publisher -> publisher.first());
  }

  @Override
  public Publisher<Document> explain() {
    return routed(publisher -> publisher.explain());
  }

  @Override
  public Publisher<Document> explain(ExplainVerbosity verbosity) {
    return routed(publisher -> publisher.explain(verbosity));
  }

  @Override
  public <E> Publisher<E> explain(Class<E> explainResultClass) {
    return routed(publisher -> publisher.explain(explainResultClass));
  }

  @Override
  public <E> Publisher<E> explain(Class<E> explainResultClass, ExplainVerbosity verbosity) {
    return routed(publisher -> publisher.explain(explainResultClass, verbosity));
  }
}
