package dev.onehop.routing.internal.client;

import com.mongodb.MongoNamespace;
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
import com.mongodb.reactivestreams.client.DistinctPublisher;
import com.mongodb.reactivestreams.client.FindPublisher;
import com.mongodb.reactivestreams.client.MongoCollection;
import dev.onehop.core.table.RoutingTable;
import dev.onehop.core.targeting.Target;
import dev.onehop.routing.RouteExplanation;
import dev.onehop.routing.internal.affinity.ShardClients.ShardClient;
import dev.onehop.routing.internal.client.OperationRouter.Route;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.bson.BsonDocument;
import org.bson.BsonValue;
import org.bson.codecs.configuration.CodecRegistry;
import org.bson.conversions.Bson;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * A collection whose documents' operations are routed. Everything is decided at subscription.
 *
 * @param <TDocument> the type of its documents
 */
final class RoutedCollection<TDocument> extends SessionBoundCollection<TDocument> {
  private static final InsertOneOptions INSERT_DEFAULTS = new InsertOneOptions();

  private final OperationRouter router;
  private final OperationTargets<TDocument> targets;
  // The same collection on the clients of the shards, made when first needed.
  private final Map<ShardClient, MongoCollection<TDocument>> owners = new ConcurrentHashMap<>();

  RoutedCollection(MongoCollection<TDocument> nearest, OperationRouter router) {
    super(nearest, router);
    this.router = router;
    this.targets = new OperationTargets<>(nearest);
  }

  OperationTargets<TDocument> targets() {
    return targets;
  }

  /** Runs an operation on the collection as the route's client sees it. */
  <R> Flux<R> routed(
      String operation,
      Function<RoutingTable, Target> targeting,
      Function<MongoCollection<TDocument>, Publisher<R>> call) {
    return router.route(
        getNamespace().getFullName(), operation, targeting, route -> call.apply(at(route)));
  }

  private <R> Mono<R> routedSingle(
      String operation,
      Function<RoutingTable, Target> targeting,
      Function<MongoCollection<TDocument>, Publisher<R>> call) {
    // Made at the call, as the official collection does, so that it checks the arguments there.
    Publisher<R> onNearest = call.apply(nearest());
    return router.routeOne(
        getNamespace().getFullName(),
        operation,
        targeting,
        route -> {
          MongoCollection<TDocument> where = at(route);
          return where == nearest() ? onNearest : call.apply(where);
        });
  }

  /** A bulk, split by where its models belong. */
  private Mono<BulkWriteResult> split(
      String operation,
      List<? extends WriteModel<? extends TDocument>> requests,
      BulkWriteOptions options) {
    return Mono.defer(
        () -> {
          List<WriteModel<? extends TDocument>> models =
              requests.stream().<WriteModel<? extends TDocument>>map(targets::withId).toList();
          return Mono.from(
              router.routeAll(
                  getNamespace().getFullName(),
                  models.stream().map(targets::model).toList(),
                  routes ->
                      new BulkSplit<>(models, routes, options.isOrdered())
                          .write(
                              part ->
                                  router.part(
                                      getNamespace().getFullName(),
                                      operation,
                                      part.route(),
                                      at(part.route()).bulkWrite(part.models(), options)))));
        });
  }

  /** Where an operation would go now. */
  Mono<RouteExplanation> explain(
      Function<OperationTargets<TDocument>, Function<RoutingTable, Target>> operation) {
    return router.explain(getNamespace().getFullName(), operation.apply(targets));
  }

  private static InsertManyResult insertManyResult(BulkWriteResult result) {
    if (!result.wasAcknowledged()) {
      return InsertManyResult.unacknowledged();
    }
    Map<Integer, BsonValue> ids = new HashMap<>();
    result.getInserts().forEach(insert -> ids.put(insert.getIndex(), insert.getId()));
    return InsertManyResult.acknowledged(ids);
  }

  private MongoCollection<TDocument> at(Route route) {
    return route.client() == null ? nearest() : at(route.client());
  }

  private MongoCollection<TDocument> at(ShardClient client) {
    return owners.computeIfAbsent(client, this::create);
  }

  private MongoCollection<TDocument> create(ShardClient client) {
    MongoCollection<TDocument> here = nearest();
    MongoNamespace namespace = getNamespace();
    MongoCollection<TDocument> there =
        client
            .client()
            .getDatabase(namespace.getDatabaseName())
            .getCollection(namespace.getCollectionName(), here.getDocumentClass());
    // Only what differs: each copy costs, that with a registry of its own the codecs found so far.
    if (!there.getCodecRegistry().equals(here.getCodecRegistry())) {
      there = there.withCodecRegistry(here.getCodecRegistry());
    }
    if (!there.getReadPreference().equals(here.getReadPreference())) {
      there = there.withReadPreference(here.getReadPreference());
    }
    if (!there.getWriteConcern().equals(here.getWriteConcern())) {
      there = there.withWriteConcern(here.getWriteConcern());
    }
    if (!there.getReadConcern().equals(here.getReadConcern())) {
      there = there.withReadConcern(here.getReadConcern());
    }
    Long timeout = here.getTimeout(TimeUnit.MILLISECONDS);
    return Objects.equals(timeout, there.getTimeout(TimeUnit.MILLISECONDS)) || timeout == null
        ? there
        : there.withTimeout(timeout, TimeUnit.MILLISECONDS);
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
        this, null, collection -> collection.distinct(fieldName, resultClass));
  }

  @Override
  public <TResult> DistinctPublisher<TResult> distinct(
      String fieldName, Bson filter, Class<TResult> resultClass) {
    return new RoutedDistinctPublisher<>(
        this, filter, collection -> collection.distinct(fieldName, filter, resultClass));
  }

  @Override
  public FindPublisher<TDocument> find() {
    return new RoutedFindPublisher<>(this, null, collection -> collection.find());
  }

  @Override
  public <TResult> FindPublisher<TResult> find(Class<TResult> clazz) {
    return new RoutedFindPublisher<>(this, null, collection -> collection.find(clazz));
  }

  @Override
  public FindPublisher<TDocument> find(Bson filter) {
    Bson once = EncodedFilter.of(filter);
    return new RoutedFindPublisher<>(this, once, collection -> collection.find(once));
  }

  @Override
  public <TResult> FindPublisher<TResult> find(Bson filter, Class<TResult> clazz) {
    Bson once = EncodedFilter.of(filter);
    return new RoutedFindPublisher<>(this, once, collection -> collection.find(once, clazz));
  }

  @Override
  public AggregatePublisher<TDocument> aggregate(List<? extends Bson> pipeline) {
    return new RoutedAggregatePublisher<>(
        this, pipeline, collection -> collection.aggregate(pipeline));
  }

  @Override
  public <TResult> AggregatePublisher<TResult> aggregate(
      List<? extends Bson> pipeline, Class<TResult> clazz) {
    return new RoutedAggregatePublisher<>(
        this, pipeline, collection -> collection.aggregate(pipeline, clazz));
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
    return routedSingle(
        "countDocuments",
        targets.find(once, options.getCollation(), null),
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
    return split("bulkWrite", requests, options);
  }

  @Override
  public Publisher<InsertOneResult> insertOne(TDocument document) {
    return insertOne(document, INSERT_DEFAULTS);
  }

  @Override
  public Publisher<InsertOneResult> insertOne(TDocument document, InsertOneOptions options) {
    TDocument withId = targets.withId(document);
    return routedSingle(
        "insertOne", targets.insert(withId), collection -> collection.insertOne(withId, options));
  }

  @Override
  public Publisher<InsertManyResult> insertMany(List<? extends TDocument> documents) {
    return insertMany(documents, new InsertManyOptions());
  }

  @Override
  public Publisher<InsertManyResult> insertMany(
      List<? extends TDocument> documents, InsertManyOptions options) {
    nearest().insertMany(documents, options);
    BulkWriteOptions bulk =
        new BulkWriteOptions()
            .ordered(options.isOrdered())
            .bypassDocumentValidation(options.getBypassDocumentValidation())
            .comment(options.getComment());
    return split(
            "insertMany", documents.stream().map(InsertOneModel<TDocument>::new).toList(), bulk)
        .map(RoutedCollection::insertManyResult);
  }

  @Override
  public Publisher<DeleteResult> deleteOne(Bson filter) {
    return deleteOne(filter, new DeleteOptions());
  }

  @Override
  public Publisher<DeleteResult> deleteOne(Bson filter, DeleteOptions options) {
    Bson once = EncodedFilter.of(filter);
    return routedSingle(
        "deleteOne",
        targets.delete(once, false, options.getCollation(), options.getLet()),
        collection -> collection.deleteOne(once, options));
  }

  @Override
  public Publisher<DeleteResult> deleteMany(Bson filter) {
    return deleteMany(filter, new DeleteOptions());
  }

  @Override
  public Publisher<DeleteResult> deleteMany(Bson filter, DeleteOptions options) {
    Bson once = EncodedFilter.of(filter);
    return routedSingle(
        "deleteMany",
        targets.delete(once, true, options.getCollation(), options.getLet()),
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
    return routedSingle(
        "replaceOne",
        targets.replace(
            once, replacement, options.isUpsert(), options.getCollation(), options.getLet()),
        collection -> collection.replaceOne(once, replacement, options));
  }

  @Override
  public Publisher<UpdateResult> updateOne(Bson filter, Bson update) {
    return updateOne(filter, update, new UpdateOptions());
  }

  @Override
  public Publisher<UpdateResult> updateOne(Bson filter, Bson update, UpdateOptions options) {
    Bson once = EncodedFilter.of(filter);
    return routedSingle(
        "updateOne",
        targets.update(
            once, update, false, options.isUpsert(), options.getCollation(), options.getLet()),
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
    return routedSingle(
        "updateOne",
        targets.update(
            once, update, false, options.isUpsert(), options.getCollation(), options.getLet()),
        collection -> collection.updateOne(once, update, options));
  }

  @Override
  public Publisher<UpdateResult> updateMany(Bson filter, Bson update) {
    return updateMany(filter, update, new UpdateOptions());
  }

  @Override
  public Publisher<UpdateResult> updateMany(Bson filter, Bson update, UpdateOptions options) {
    Bson once = EncodedFilter.of(filter);
    return routedSingle(
        "updateMany",
        targets.update(
            once, update, true, options.isUpsert(), options.getCollation(), options.getLet()),
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
    return routedSingle(
        "updateMany",
        targets.update(
            once, update, true, options.isUpsert(), options.getCollation(), options.getLet()),
        collection -> collection.updateMany(once, update, options));
  }

  @Override
  public Publisher<TDocument> findOneAndDelete(Bson filter) {
    return findOneAndDelete(filter, new FindOneAndDeleteOptions());
  }

  @Override
  public Publisher<TDocument> findOneAndDelete(Bson filter, FindOneAndDeleteOptions options) {
    Bson once = EncodedFilter.of(filter);
    return routedSingle(
        "findOneAndDelete",
        targets.findAndModify(once, options.getCollation(), options.getLet()),
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
    return routedSingle(
        "findOneAndReplace",
        targets.findAndModify(once, options.getCollation(), options.getLet()),
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
    return routedSingle(
        "findOneAndUpdate",
        targets.findAndModify(once, options.getCollation(), options.getLet()),
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
    return routedSingle(
        "findOneAndUpdate",
        targets.findAndModify(once, options.getCollation(), options.getLet()),
        collection -> collection.findOneAndUpdate(once, update, options));
  }
}
