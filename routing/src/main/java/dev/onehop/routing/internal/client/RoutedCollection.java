package dev.onehop.routing.internal.client;

import static com.mongodb.assertions.Assertions.notNull;

import com.mongodb.ReadConcern;
import com.mongodb.ReadPreference;
import com.mongodb.WriteConcern;
import com.mongodb.bulk.BulkWriteResult;
import com.mongodb.client.model.BulkWriteOptions;
import com.mongodb.client.model.CountOptions;
import com.mongodb.client.model.DeleteOptions;
import com.mongodb.client.model.FindOneAndDeleteOptions;
import com.mongodb.client.model.FindOneAndReplaceOptions;
import com.mongodb.client.model.FindOneAndUpdateOptions;
import com.mongodb.client.model.InsertManyOptions;
import com.mongodb.client.model.InsertOneOptions;
import com.mongodb.client.model.ReplaceOptions;
import com.mongodb.client.model.UpdateOptions;
import com.mongodb.client.model.WriteModel;
import com.mongodb.client.result.DeleteResult;
import com.mongodb.client.result.InsertManyResult;
import com.mongodb.client.result.InsertOneResult;
import com.mongodb.client.result.UpdateResult;
import com.mongodb.reactivestreams.client.AggregatePublisher;
import com.mongodb.reactivestreams.client.DistinctPublisher;
import com.mongodb.reactivestreams.client.FindPublisher;
import com.mongodb.reactivestreams.client.MongoCollection;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.bson.BsonDocument;
import org.bson.codecs.configuration.CodecRegistry;
import org.bson.conversions.Bson;
import org.reactivestreams.Publisher;

/**
 * A collection whose documents' operations are routed. Everything is decided at subscription.
 *
 * @param <TDocument> the type of its documents
 */
final class RoutedCollection<TDocument> extends SessionBoundCollection<TDocument> {
  private static final InsertOneOptions INSERT_DEFAULTS = new InsertOneOptions();

  private final OperationRouter router;
  private final CollectionRoutes<TDocument> routes;
  private final OperationTargets<TDocument> targets;

  RoutedCollection(MongoCollection<TDocument> nearest, OperationRouter router) {
    super(new CollectionRoutes<>(nearest, router));
    this.router = router;
    this.routes = routes();
    this.targets = routes.targets();
  }

  @Override
  public <NewTDocument> MongoCollection<NewTDocument> withDocumentClass(Class<NewTDocument> clazz) {
    return new RoutedCollection<>(nearest().withDocumentClass(clazz), router);
  }

  @Override
  public MongoCollection<TDocument> withCodecRegistry(CodecRegistry codecRegistry) {
    return new RoutedCollection<>(nearest().withCodecRegistry(codecRegistry), router);
  }

  @Override
  public MongoCollection<TDocument> withReadPreference(ReadPreference readPreference) {
    return new RoutedCollection<>(nearest().withReadPreference(readPreference), router);
  }

  @Override
  public MongoCollection<TDocument> withWriteConcern(WriteConcern writeConcern) {
    return new RoutedCollection<>(nearest().withWriteConcern(writeConcern), router);
  }

  @Override
  public MongoCollection<TDocument> withReadConcern(ReadConcern readConcern) {
    return new RoutedCollection<>(nearest().withReadConcern(readConcern), router);
  }

  @Override
  public MongoCollection<TDocument> withTimeout(long timeout, TimeUnit timeUnit) {
    return new RoutedCollection<>(nearest().withTimeout(timeout, timeUnit), router);
  }

  @Override
  public <TResult> DistinctPublisher<TResult> distinct(
      String fieldName, Class<TResult> resultClass) {
    return new RoutedDistinctPublisher<>(
        routes, null, null, (collection, none) -> collection.distinct(fieldName, resultClass));
  }

  @Override
  public <TResult> DistinctPublisher<TResult> distinct(
      String fieldName, Bson filter, Class<TResult> resultClass) {
    return new RoutedDistinctPublisher<>(
        routes,
        null,
        filter,
        (collection, none) -> collection.distinct(fieldName, filter, resultClass));
  }

  @Override
  public FindPublisher<TDocument> find() {
    return new RoutedFindPublisher<>(routes, null, null, (collection, none) -> collection.find());
  }

  @Override
  public <TResult> FindPublisher<TResult> find(Class<TResult> clazz) {
    return new RoutedFindPublisher<>(
        routes, null, null, (collection, none) -> collection.find(clazz));
  }

  @Override
  public FindPublisher<TDocument> find(Bson filter) {
    Bson once = EncodedFilter.of(filter);
    return new RoutedFindPublisher<>(
        routes, null, once, (collection, none) -> collection.find(once));
  }

  @Override
  public <TResult> FindPublisher<TResult> find(Bson filter, Class<TResult> clazz) {
    notNull("documentClass", clazz);
    Bson once = EncodedFilter.of(filter);
    return new RoutedFindPublisher<>(
        routes, null, once, (collection, none) -> collection.find(once, clazz));
  }

  @Override
  public AggregatePublisher<TDocument> aggregate(List<? extends Bson> pipeline) {
    return new RoutedAggregatePublisher<>(
        routes, null, pipeline, (collection, none) -> collection.aggregate(pipeline));
  }

  @Override
  public <TResult> AggregatePublisher<TResult> aggregate(
      List<? extends Bson> pipeline, Class<TResult> clazz) {
    return new RoutedAggregatePublisher<>(
        routes, null, pipeline, (collection, none) -> collection.aggregate(pipeline, clazz));
  }

  @Override
  public Publisher<Long> countDocuments() {
    return countDocuments(new BsonDocument(), new CountOptions());
  }

  @Override
  public Publisher<Long> countDocuments(Bson filter) {
    return countDocuments(filter, new CountOptions());
  }

  @Override
  public Publisher<Long> countDocuments(Bson filter, CountOptions options) {
    Bson once = EncodedFilter.of(filter);
    return routes.single(
        "countDocuments",
        targets.count(once, options),
        collection -> collection.countDocuments(once, options));
  }

  @Override
  public Publisher<BulkWriteResult> bulkWrite(
      List<? extends WriteModel<? extends TDocument>> requests) {
    return bulkWrite(requests, new BulkWriteOptions());
  }

  @Override
  public Publisher<BulkWriteResult> bulkWrite(
      List<? extends WriteModel<? extends TDocument>> requests, BulkWriteOptions options) {
    nearest().bulkWrite(requests, options);
    return routes.split("bulkWrite", requests, options);
  }

  @Override
  public Publisher<InsertOneResult> insertOne(TDocument document) {
    return insertOne(document, INSERT_DEFAULTS);
  }

  @Override
  public Publisher<InsertOneResult> insertOne(TDocument document, InsertOneOptions options) {
    TDocument withId = targets.withId(document);
    return routes.write(
        "insertOne",
        true,
        targets.insert(withId),
        collection -> collection.insertOne(withId, options));
  }

  @Override
  public Publisher<InsertManyResult> insertMany(List<? extends TDocument> documents) {
    return insertMany(documents, new InsertManyOptions());
  }

  @Override
  public Publisher<InsertManyResult> insertMany(
      List<? extends TDocument> documents, InsertManyOptions options) {
    nearest().insertMany(documents, options);
    return routes
        .split("insertMany", inserts(documents), bulkOptions(options))
        .map(SessionBoundCollection::insertManyResult);
  }

  @Override
  public Publisher<DeleteResult> deleteOne(Bson filter) {
    return deleteOne(filter, new DeleteOptions());
  }

  @Override
  public Publisher<DeleteResult> deleteOne(Bson filter, DeleteOptions options) {
    Bson once = EncodedFilter.of(filter);
    return routes.write(
        "deleteOne",
        true,
        targets.delete(once, false, options),
        collection -> collection.deleteOne(once, options));
  }

  @Override
  public Publisher<DeleteResult> deleteMany(Bson filter) {
    return deleteMany(filter, new DeleteOptions());
  }

  @Override
  public Publisher<DeleteResult> deleteMany(Bson filter, DeleteOptions options) {
    Bson once = EncodedFilter.of(filter);
    return routes.write(
        "deleteMany",
        false,
        targets.delete(once, true, options),
        collection -> collection.deleteMany(once, options));
  }

  @Override
  public Publisher<UpdateResult> replaceOne(Bson filter, TDocument replacement) {
    return replaceOne(filter, replacement, new ReplaceOptions());
  }

  @Override
  public Publisher<UpdateResult> replaceOne(
      Bson filter, TDocument replacement, ReplaceOptions options) {
    Bson once = EncodedFilter.of(filter);
    return routes.write(
        "replaceOne",
        true,
        targets.replace(once, replacement, options),
        collection -> collection.replaceOne(once, replacement, options));
  }

  @Override
  public Publisher<UpdateResult> updateOne(Bson filter, Bson update) {
    return updateOne(filter, update, new UpdateOptions());
  }

  @Override
  public Publisher<UpdateResult> updateOne(Bson filter, Bson update, UpdateOptions options) {
    Bson once = EncodedFilter.of(filter);
    return routes.write(
        "updateOne",
        true,
        targets.update(once, update, false, options),
        collection -> collection.updateOne(once, update, options));
  }

  @Override
  public Publisher<UpdateResult> updateOne(Bson filter, List<? extends Bson> update) {
    return updateOne(filter, update, new UpdateOptions());
  }

  @Override
  public Publisher<UpdateResult> updateOne(
      Bson filter, List<? extends Bson> update, UpdateOptions options) {
    Bson once = EncodedFilter.of(filter);
    return routes.write(
        "updateOne",
        true,
        targets.update(once, update, false, options),
        collection -> collection.updateOne(once, update, options));
  }

  @Override
  public Publisher<UpdateResult> updateMany(Bson filter, Bson update) {
    return updateMany(filter, update, new UpdateOptions());
  }

  @Override
  public Publisher<UpdateResult> updateMany(Bson filter, Bson update, UpdateOptions options) {
    Bson once = EncodedFilter.of(filter);
    return routes.write(
        "updateMany",
        false,
        targets.update(once, update, true, options),
        collection -> collection.updateMany(once, update, options));
  }

  @Override
  public Publisher<UpdateResult> updateMany(Bson filter, List<? extends Bson> update) {
    return updateMany(filter, update, new UpdateOptions());
  }

  @Override
  public Publisher<UpdateResult> updateMany(
      Bson filter, List<? extends Bson> update, UpdateOptions options) {
    Bson once = EncodedFilter.of(filter);
    return routes.write(
        "updateMany",
        false,
        targets.update(once, update, true, options),
        collection -> collection.updateMany(once, update, options));
  }

  @Override
  public Publisher<TDocument> findOneAndDelete(Bson filter) {
    return findOneAndDelete(filter, new FindOneAndDeleteOptions());
  }

  @Override
  public Publisher<TDocument> findOneAndDelete(Bson filter, FindOneAndDeleteOptions options) {
    Bson once = EncodedFilter.of(filter);
    return routes.write(
        "findOneAndDelete",
        true,
        targets.findAndModify(once, options),
        collection -> collection.findOneAndDelete(once, options));
  }

  @Override
  public Publisher<TDocument> findOneAndReplace(Bson filter, TDocument replacement) {
    return findOneAndReplace(filter, replacement, new FindOneAndReplaceOptions());
  }

  @Override
  public Publisher<TDocument> findOneAndReplace(
      Bson filter, TDocument replacement, FindOneAndReplaceOptions options) {
    Bson once = EncodedFilter.of(filter);
    return routes.write(
        "findOneAndReplace",
        true,
        targets.findAndModify(once, options),
        collection -> collection.findOneAndReplace(once, replacement, options));
  }

  @Override
  public Publisher<TDocument> findOneAndUpdate(Bson filter, Bson update) {
    return findOneAndUpdate(filter, update, new FindOneAndUpdateOptions());
  }

  @Override
  public Publisher<TDocument> findOneAndUpdate(
      Bson filter, Bson update, FindOneAndUpdateOptions options) {
    Bson once = EncodedFilter.of(filter);
    return routes.write(
        "findOneAndUpdate",
        true,
        targets.findAndModify(once, options),
        collection -> collection.findOneAndUpdate(once, update, options));
  }

  @Override
  public Publisher<TDocument> findOneAndUpdate(Bson filter, List<? extends Bson> update) {
    return findOneAndUpdate(filter, update, new FindOneAndUpdateOptions());
  }

  @Override
  public Publisher<TDocument> findOneAndUpdate(
      Bson filter, List<? extends Bson> update, FindOneAndUpdateOptions options) {
    Bson once = EncodedFilter.of(filter);
    return routes.write(
        "findOneAndUpdate",
        true,
        targets.findAndModify(once, options),
        collection -> collection.findOneAndUpdate(once, update, options));
  }
}
