package dev.onehop.routing.internal.client;

import com.mongodb.CursorType;
import com.mongodb.ExplainVerbosity;
import com.mongodb.client.cursor.TimeoutMode;
import com.mongodb.client.model.Collation;
import com.mongodb.reactivestreams.client.ClientSession;
import com.mongodb.reactivestreams.client.FindPublisher;
import com.mongodb.reactivestreams.client.MongoCollection;
import dev.onehop.core.table.RoutingTable;
import dev.onehop.core.targeting.Target;
import java.util.concurrent.TimeUnit;
import java.util.function.BiFunction;
import java.util.function.Function;
import org.bson.BsonValue;
import org.bson.Document;
import org.bson.conversions.Bson;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;

/** A find that is routed when it is subscribed to, by what it was set to last. */
final class RoutedFindPublisher<D, TResult> extends FluentRead<D, TResult, FindPublisher<TResult>>
    implements FindPublisher<TResult> {
  private @Nullable Bson query;

  RoutedFindPublisher(
      CollectionRoutes<D> routes,
      @Nullable ClientSession session,
      @Nullable Bson filter,
      BiFunction<MongoCollection<D>, @Nullable ClientSession, FindPublisher<TResult>> call) {
    super(routes, session, "find", call);
    this.query = filter;
    if (session != null || filter == null) {
      var unused = nearest();
    }
  }

  @Override
  Function<RoutingTable, Target> targeting(
      OperationTargets<D> targets, @Nullable Collation collation, @Nullable Bson variables) {
    return targets.find(query, collation, variables);
  }

  @Override
  public Publisher<TResult> first() {
    return routedOne(publisher -> publisher.first());
  }

  @Override
  public FindPublisher<TResult> filter(@Nullable Bson filter) {
    set(publisher -> publisher.filter(filter));
    query = filter;
    return this;
  }

  @Override
  public FindPublisher<TResult> limit(int limit) {
    set(publisher -> publisher.limit(limit));
    return this;
  }

  @Override
  public FindPublisher<TResult> skip(int skip) {
    set(publisher -> publisher.skip(skip));
    return this;
  }

  @Override
  public FindPublisher<TResult> maxTime(long maxTime, TimeUnit timeUnit) {
    set(publisher -> publisher.maxTime(maxTime, timeUnit));
    return this;
  }

  @Override
  public FindPublisher<TResult> maxAwaitTime(long maxAwaitTime, TimeUnit timeUnit) {
    set(publisher -> publisher.maxAwaitTime(maxAwaitTime, timeUnit));
    return this;
  }

  @Override
  public FindPublisher<TResult> projection(@Nullable Bson projection) {
    set(publisher -> publisher.projection(projection));
    return this;
  }

  @Override
  public FindPublisher<TResult> sort(@Nullable Bson sort) {
    set(publisher -> publisher.sort(sort));
    return this;
  }

  @Override
  public FindPublisher<TResult> noCursorTimeout(boolean noCursorTimeout) {
    set(publisher -> publisher.noCursorTimeout(noCursorTimeout));
    return this;
  }

  @Override
  public FindPublisher<TResult> partial(boolean partial) {
    set(publisher -> publisher.partial(partial));
    return this;
  }

  @Override
  public FindPublisher<TResult> cursorType(CursorType cursorType) {
    set(publisher -> publisher.cursorType(cursorType));
    return this;
  }

  @Override
  public FindPublisher<TResult> collation(@Nullable Collation collation) {
    set(publisher -> publisher.collation(collation));
    collate(collation);
    return this;
  }

  @Override
  public FindPublisher<TResult> comment(@Nullable String comment) {
    set(publisher -> publisher.comment(comment));
    return this;
  }

  @Override
  public FindPublisher<TResult> comment(@Nullable BsonValue comment) {
    set(publisher -> publisher.comment(comment));
    return this;
  }

  @Override
  public FindPublisher<TResult> hint(@Nullable Bson hint) {
    set(publisher -> publisher.hint(hint));
    return this;
  }

  @Override
  public FindPublisher<TResult> hintString(@Nullable String hint) {
    set(publisher -> publisher.hintString(hint));
    return this;
  }

  @Override
  public FindPublisher<TResult> let(@Nullable Bson variables) {
    set(publisher -> publisher.let(variables));
    variables(variables);
    return this;
  }

  @Override
  public FindPublisher<TResult> max(@Nullable Bson max) {
    set(publisher -> publisher.max(max));
    return this;
  }

  @Override
  public FindPublisher<TResult> min(@Nullable Bson min) {
    set(publisher -> publisher.min(min));
    return this;
  }

  @Override
  public FindPublisher<TResult> returnKey(boolean returnKey) {
    set(publisher -> publisher.returnKey(returnKey));
    return this;
  }

  @Override
  public FindPublisher<TResult> showRecordId(boolean showRecordId) {
    set(publisher -> publisher.showRecordId(showRecordId));
    return this;
  }

  @Override
  public FindPublisher<TResult> batchSize(int batchSize) {
    set(publisher -> publisher.batchSize(batchSize));
    return this;
  }

  @Override
  public FindPublisher<TResult> allowDiskUse(@Nullable Boolean allowDiskUse) {
    set(publisher -> publisher.allowDiskUse(allowDiskUse));
    return this;
  }

  @Override
  public FindPublisher<TResult> timeoutMode(TimeoutMode timeoutMode) {
    set(publisher -> publisher.timeoutMode(timeoutMode));
    return this;
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
