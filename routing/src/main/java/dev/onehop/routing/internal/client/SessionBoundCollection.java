package dev.onehop.routing.internal.client;

import static com.mongodb.assertions.Assertions.notNull;

import com.mongodb.bulk.BulkWriteResult;
import com.mongodb.client.model.BulkWriteOptions;
import com.mongodb.client.model.CountOptions;
import com.mongodb.client.model.DeleteOptions;
import com.mongodb.client.model.FindOneAndDeleteOptions;
import com.mongodb.client.model.FindOneAndReplaceOptions;
import com.mongodb.client.model.FindOneAndUpdateOptions;
import com.mongodb.client.model.InsertManyOptions;
import com.mongodb.client.model.InsertOneModel;
import com.mongodb.client.model.InsertOneOptions;
import com.mongodb.client.model.ReplaceOptions;
import com.mongodb.client.model.UpdateOptions;
import com.mongodb.client.model.WriteModel;
import com.mongodb.client.result.DeleteResult;
import com.mongodb.client.result.InsertManyResult;
import com.mongodb.client.result.InsertOneResult;
import com.mongodb.client.result.UpdateResult;
import com.mongodb.reactivestreams.client.AggregatePublisher;
import com.mongodb.reactivestreams.client.ChangeStreamPublisher;
import com.mongodb.reactivestreams.client.ClientSession;
import com.mongodb.reactivestreams.client.DistinctPublisher;
import com.mongodb.reactivestreams.client.FindPublisher;
import com.mongodb.reactivestreams.client.MongoCollection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiFunction;
import org.bson.BsonDocument;
import org.bson.BsonValue;
import org.bson.conversions.Bson;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * A collection whose operations of explicit sessions are routed as all others are, and stay
 * together in a transaction.
 *
 * @param <TDocument> the type of its documents
 */
abstract class SessionBoundCollection<TDocument> extends ForwardingCollection<TDocument> {
  private final CollectionRoutes<TDocument> routes;
  private final OperationTargets<TDocument> targets;

  SessionBoundCollection(CollectionRoutes<TDocument> routes) {
    super(routes.nearest());
    this.routes = routes;
    this.targets = routes.targets();
  }

  final CollectionRoutes<TDocument> routes() {
    return routes;
  }

  @Override
  final <T> ChangeStreamPublisher<T> watch(ChangeStreamPublisher<T> official) {
    return new RoutedWatch<>(routes.times(), official, routes.timeoutMillis());
  }

  @Override
  final <R> Flux<R> inSession(
      ClientSession clientSession,
      BiFunction<MongoCollection<TDocument>, ClientSession, Publisher<R>> call) {
    return routes.unrouted(clientSession, call);
  }

  static <D> List<InsertOneModel<D>> inserts(List<? extends D> documents) {
    return documents.stream().map(InsertOneModel<D>::new).toList();
  }

  static BulkWriteOptions bulkOptions(InsertManyOptions options) {
    return new BulkWriteOptions()
        .ordered(options.isOrdered())
        .bypassDocumentValidation(options.getBypassDocumentValidation())
        .comment(options.getComment());
  }

  static InsertManyResult insertManyResult(BulkWriteResult result) {
    if (!result.wasAcknowledged()) {
      return InsertManyResult.unacknowledged();
    }
    Map<Integer, BsonValue> ids = new HashMap<>();
    result.getInserts().forEach(insert -> ids.put(insert.getIndex(), insert.getId()));
    return InsertManyResult.acknowledged(ids);
  }

  @Override
  public <TResult> DistinctPublisher<TResult> distinct(
      ClientSession clientSession, String fieldName, Class<TResult> resultClass) {
    return new RoutedDistinctPublisher<>(
        routes,
        notNull("clientSession", clientSession),
        null,
        (collection, session) -> collection.distinct(session, fieldName, resultClass));
  }

  @Override
  public <TResult> DistinctPublisher<TResult> distinct(
      ClientSession clientSession, String fieldName, Bson filter, Class<TResult> resultClass) {
    return new RoutedDistinctPublisher<>(
        routes,
        notNull("clientSession", clientSession),
        filter,
        (collection, session) -> collection.distinct(session, fieldName, filter, resultClass));
  }

  @Override
  public FindPublisher<TDocument> find(ClientSession clientSession) {
    return new RoutedFindPublisher<>(
        routes,
        notNull("clientSession", clientSession),
        null,
        (collection, session) -> collection.find(session));
  }

  @Override
  public <TResult> FindPublisher<TResult> find(ClientSession clientSession, Class<TResult> clazz) {
    return new RoutedFindPublisher<>(
        routes,
        notNull("clientSession", clientSession),
        null,
        (collection, session) -> collection.find(session, clazz));
  }

  @Override
  public FindPublisher<TDocument> find(ClientSession clientSession, Bson filter) {
    return new RoutedFindPublisher<>(
        routes,
        notNull("clientSession", clientSession),
        filter,
        (collection, session) -> collection.find(session, filter));
  }

  @Override
  public <TResult> FindPublisher<TResult> find(
      ClientSession clientSession, Bson filter, Class<TResult> clazz) {
    return new RoutedFindPublisher<>(
        routes,
        notNull("clientSession", clientSession),
        filter,
        (collection, session) -> collection.find(session, filter, clazz));
  }

  @Override
  public AggregatePublisher<TDocument> aggregate(
      ClientSession clientSession, List<? extends Bson> pipeline) {
    return new RoutedAggregatePublisher<>(
        routes,
        notNull("clientSession", clientSession),
        pipeline,
        (collection, session) -> collection.aggregate(session, pipeline));
  }

  @Override
  public <TResult> AggregatePublisher<TResult> aggregate(
      ClientSession clientSession, List<? extends Bson> pipeline, Class<TResult> clazz) {
    return new RoutedAggregatePublisher<>(
        routes,
        notNull("clientSession", clientSession),
        pipeline,
        (collection, session) -> collection.aggregate(session, pipeline, clazz));
  }

  @Override
  public Publisher<Long> countDocuments(ClientSession clientSession) {
    return countDocuments(clientSession, new BsonDocument(), new CountOptions());
  }

  @Override
  public Publisher<Long> countDocuments(ClientSession clientSession, Bson filter) {
    return countDocuments(clientSession, filter, new CountOptions());
  }

  @Override
  public Publisher<Long> countDocuments(
      ClientSession clientSession, Bson filter, CountOptions options) {
    return routes.single(
        clientSession,
        "countDocuments",
        targets.count(filter, options),
        (collection, session) -> collection.countDocuments(session, filter, options));
  }

  @Override
  public Publisher<BulkWriteResult> bulkWrite(
      ClientSession clientSession, List<? extends WriteModel<? extends TDocument>> requests) {
    return bulkWrite(clientSession, requests, new BulkWriteOptions());
  }

  @Override
  public Publisher<BulkWriteResult> bulkWrite(
      ClientSession clientSession,
      List<? extends WriteModel<? extends TDocument>> requests,
      BulkWriteOptions options) {
    Publisher<BulkWriteResult> checked =
        nearest().bulkWrite(RoutedSession.checking(clientSession), requests, options);
    RoutedSession session = routes.ours(clientSession);
    return session == null
        ? Mono.from(routes.ofUnknownSession("bulkWrite", checked))
        : routes.split(session, "bulkWrite", requests, options);
  }

  @Override
  public Publisher<InsertOneResult> insertOne(ClientSession clientSession, TDocument document) {
    return insertOne(clientSession, document, new InsertOneOptions());
  }

  @Override
  public Publisher<InsertOneResult> insertOne(
      ClientSession clientSession, TDocument document, InsertOneOptions options) {
    TDocument withId = targets.withId(document);
    return routes.write(
        clientSession,
        "insertOne",
        true,
        targets.insert(withId),
        (collection, session) -> collection.insertOne(session, withId, options));
  }

  @Override
  public Publisher<InsertManyResult> insertMany(
      ClientSession clientSession, List<? extends TDocument> documents) {
    return insertMany(clientSession, documents, new InsertManyOptions());
  }

  @Override
  public Publisher<InsertManyResult> insertMany(
      ClientSession clientSession, List<? extends TDocument> documents, InsertManyOptions options) {
    Publisher<InsertManyResult> checked =
        nearest().insertMany(RoutedSession.checking(clientSession), documents, options);
    RoutedSession session = routes.ours(clientSession);
    return session == null
        ? Mono.from(routes.ofUnknownSession("insertMany", checked))
        : routes
            .split(session, "insertMany", inserts(documents), bulkOptions(options))
            .map(SessionBoundCollection::insertManyResult);
  }

  @Override
  public Publisher<DeleteResult> deleteOne(ClientSession clientSession, Bson filter) {
    return deleteOne(clientSession, filter, new DeleteOptions());
  }

  @Override
  public Publisher<DeleteResult> deleteOne(
      ClientSession clientSession, Bson filter, DeleteOptions options) {
    return routes.write(
        clientSession,
        "deleteOne",
        true,
        targets.delete(filter, false, options),
        (collection, session) -> collection.deleteOne(session, filter, options));
  }

  @Override
  public Publisher<DeleteResult> deleteMany(ClientSession clientSession, Bson filter) {
    return deleteMany(clientSession, filter, new DeleteOptions());
  }

  @Override
  public Publisher<DeleteResult> deleteMany(
      ClientSession clientSession, Bson filter, DeleteOptions options) {
    return routes.write(
        clientSession,
        "deleteMany",
        false,
        targets.delete(filter, true, options),
        (collection, session) -> collection.deleteMany(session, filter, options));
  }

  @Override
  public Publisher<UpdateResult> replaceOne(
      ClientSession clientSession, Bson filter, TDocument replacement) {
    return replaceOne(clientSession, filter, replacement, new ReplaceOptions());
  }

  @Override
  public Publisher<UpdateResult> replaceOne(
      ClientSession clientSession, Bson filter, TDocument replacement, ReplaceOptions options) {
    return routes.write(
        clientSession,
        "replaceOne",
        true,
        targets.replace(filter, replacement, options),
        (collection, session) -> collection.replaceOne(session, filter, replacement, options));
  }

  @Override
  public Publisher<UpdateResult> updateOne(ClientSession clientSession, Bson filter, Bson update) {
    return updateOne(clientSession, filter, update, new UpdateOptions());
  }

  @Override
  public Publisher<UpdateResult> updateOne(
      ClientSession clientSession, Bson filter, Bson update, UpdateOptions options) {
    return routes.write(
        clientSession,
        "updateOne",
        true,
        targets.update(filter, update, false, options),
        (collection, session) -> collection.updateOne(session, filter, update, options));
  }

  @Override
  public Publisher<UpdateResult> updateOne(
      ClientSession clientSession, Bson filter, List<? extends Bson> update) {
    return updateOne(clientSession, filter, update, new UpdateOptions());
  }

  @Override
  public Publisher<UpdateResult> updateOne(
      ClientSession clientSession,
      Bson filter,
      List<? extends Bson> update,
      UpdateOptions options) {
    return routes.write(
        clientSession,
        "updateOne",
        true,
        targets.update(filter, update, false, options),
        (collection, session) -> collection.updateOne(session, filter, update, options));
  }

  @Override
  public Publisher<UpdateResult> updateMany(ClientSession clientSession, Bson filter, Bson update) {
    return updateMany(clientSession, filter, update, new UpdateOptions());
  }

  @Override
  public Publisher<UpdateResult> updateMany(
      ClientSession clientSession, Bson filter, Bson update, UpdateOptions options) {
    return routes.write(
        clientSession,
        "updateMany",
        false,
        targets.update(filter, update, true, options),
        (collection, session) -> collection.updateMany(session, filter, update, options));
  }

  @Override
  public Publisher<UpdateResult> updateMany(
      ClientSession clientSession, Bson filter, List<? extends Bson> update) {
    return updateMany(clientSession, filter, update, new UpdateOptions());
  }

  @Override
  public Publisher<UpdateResult> updateMany(
      ClientSession clientSession,
      Bson filter,
      List<? extends Bson> update,
      UpdateOptions options) {
    return routes.write(
        clientSession,
        "updateMany",
        false,
        targets.update(filter, update, true, options),
        (collection, session) -> collection.updateMany(session, filter, update, options));
  }

  @Override
  public Publisher<TDocument> findOneAndDelete(ClientSession clientSession, Bson filter) {
    return findOneAndDelete(clientSession, filter, new FindOneAndDeleteOptions());
  }

  @Override
  public Publisher<TDocument> findOneAndDelete(
      ClientSession clientSession, Bson filter, FindOneAndDeleteOptions options) {
    return routes.write(
        clientSession,
        "findOneAndDelete",
        true,
        targets.findAndModify(filter, options),
        (collection, session) -> collection.findOneAndDelete(session, filter, options));
  }

  @Override
  public Publisher<TDocument> findOneAndReplace(
      ClientSession clientSession, Bson filter, TDocument replacement) {
    return findOneAndReplace(clientSession, filter, replacement, new FindOneAndReplaceOptions());
  }

  @Override
  public Publisher<TDocument> findOneAndReplace(
      ClientSession clientSession,
      Bson filter,
      TDocument replacement,
      FindOneAndReplaceOptions options) {
    return routes.write(
        clientSession,
        "findOneAndReplace",
        true,
        targets.findAndModify(filter, options),
        (collection, session) ->
            collection.findOneAndReplace(session, filter, replacement, options));
  }

  @Override
  public Publisher<TDocument> findOneAndUpdate(
      ClientSession clientSession, Bson filter, Bson update) {
    return findOneAndUpdate(clientSession, filter, update, new FindOneAndUpdateOptions());
  }

  @Override
  public Publisher<TDocument> findOneAndUpdate(
      ClientSession clientSession, Bson filter, Bson update, FindOneAndUpdateOptions options) {
    return routes.write(
        clientSession,
        "findOneAndUpdate",
        true,
        targets.findAndModify(filter, options),
        (collection, session) -> collection.findOneAndUpdate(session, filter, update, options));
  }

  @Override
  public Publisher<TDocument> findOneAndUpdate(
      ClientSession clientSession, Bson filter, List<? extends Bson> update) {
    return findOneAndUpdate(clientSession, filter, update, new FindOneAndUpdateOptions());
  }

  @Override
  public Publisher<TDocument> findOneAndUpdate(
      ClientSession clientSession,
      Bson filter,
      List<? extends Bson> update,
      FindOneAndUpdateOptions options) {
    return routes.write(
        clientSession,
        "findOneAndUpdate",
        true,
        targets.findAndModify(filter, options),
        (collection, session) -> collection.findOneAndUpdate(session, filter, update, options));
  }
}
