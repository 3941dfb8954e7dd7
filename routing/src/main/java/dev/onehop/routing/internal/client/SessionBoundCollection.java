package dev.onehop.routing.internal.client;

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
import com.mongodb.reactivestreams.client.ClientSession;
import com.mongodb.reactivestreams.client.DistinctPublisher;
import com.mongodb.reactivestreams.client.FindPublisher;
import com.mongodb.reactivestreams.client.MongoCollection;
import java.util.List;
import org.bson.conversions.Bson;
import org.reactivestreams.Publisher;

/**
 * A collection whose operations with an explicit session stay with the nearest mongos, which the
 * session belongs to. They are counted.
 *
 * @param <TDocument> the type of its documents
 */
abstract class SessionBoundCollection<TDocument> extends ForwardingCollection<TDocument> {
  private final OperationRouter router;

  SessionBoundCollection(MongoCollection<TDocument> nearest, OperationRouter router) {
    super(nearest);
    this.router = router;
  }

  private void countSession(String operation) {
    router.countSession(operation);
  }

  private <R> Publisher<R> inSession(String operation, Publisher<R> publisher) {
    countSession(operation);
    return publisher;
  }

  @Override
  public <TResult> DistinctPublisher<TResult> distinct(
      ClientSession clientSession, String fieldName, Class<TResult> resultClass) {
    countSession("distinct");
    return nearest().distinct(clientSession, fieldName, resultClass);
  }

  @Override
  public <TResult> DistinctPublisher<TResult> distinct(
      ClientSession clientSession, String fieldName, Bson filter, Class<TResult> resultClass) {
    countSession("distinct");
    return nearest().distinct(clientSession, fieldName, filter, resultClass);
  }

  @Override
  public FindPublisher<TDocument> find(ClientSession clientSession) {
    countSession("find");
    return nearest().find(clientSession);
  }

  @Override
  public <TResult> FindPublisher<TResult> find(ClientSession clientSession, Class<TResult> clazz) {
    countSession("find");
    return nearest().find(clientSession, clazz);
  }

  @Override
  public FindPublisher<TDocument> find(ClientSession clientSession, Bson filter) {
    countSession("find");
    return nearest().find(clientSession, filter);
  }

  @Override
  public <TResult> FindPublisher<TResult> find(
      ClientSession clientSession, Bson filter, Class<TResult> clazz) {
    countSession("find");
    return nearest().find(clientSession, filter, clazz);
  }

  @Override
  public AggregatePublisher<TDocument> aggregate(
      ClientSession clientSession, List<? extends Bson> pipeline) {
    countSession("aggregate");
    return nearest().aggregate(clientSession, pipeline);
  }

  @Override
  public <TResult> AggregatePublisher<TResult> aggregate(
      ClientSession clientSession, List<? extends Bson> pipeline, Class<TResult> clazz) {
    countSession("aggregate");
    return nearest().aggregate(clientSession, pipeline, clazz);
  }

  @Override
  public Publisher<Long> countDocuments(ClientSession clientSession) {
    return inSession("countDocuments", nearest().countDocuments(clientSession));
  }

  @Override
  public Publisher<Long> countDocuments(ClientSession clientSession, Bson filter) {
    return inSession("countDocuments", nearest().countDocuments(clientSession, filter));
  }

  @Override
  public Publisher<Long> countDocuments(
      ClientSession clientSession, Bson filter, CountOptions options) {
    return inSession("countDocuments", nearest().countDocuments(clientSession, filter, options));
  }

  @Override
  public Publisher<BulkWriteResult> bulkWrite(
      ClientSession clientSession, List<? extends WriteModel<? extends TDocument>> requests) {
    return inSession("bulkWrite", nearest().bulkWrite(clientSession, requests));
  }

  @Override
  public Publisher<BulkWriteResult> bulkWrite(
      ClientSession clientSession,
      List<? extends WriteModel<? extends TDocument>> requests,
      BulkWriteOptions options) {
    return inSession("bulkWrite", nearest().bulkWrite(clientSession, requests, options));
  }

  @Override
  public Publisher<InsertOneResult> insertOne(ClientSession clientSession, TDocument document) {
    return inSession("insertOne", nearest().insertOne(clientSession, document));
  }

  @Override
  public Publisher<InsertOneResult> insertOne(
      ClientSession clientSession, TDocument document, InsertOneOptions options) {
    return inSession("insertOne", nearest().insertOne(clientSession, document, options));
  }

  @Override
  public Publisher<InsertManyResult> insertMany(
      ClientSession clientSession, List<? extends TDocument> documents) {
    return inSession("insertMany", nearest().insertMany(clientSession, documents));
  }

  @Override
  public Publisher<InsertManyResult> insertMany(
      ClientSession clientSession, List<? extends TDocument> documents, InsertManyOptions options) {
    return inSession("insertMany", nearest().insertMany(clientSession, documents, options));
  }

  @Override
  public Publisher<DeleteResult> deleteOne(ClientSession clientSession, Bson filter) {
    return inSession("deleteOne", nearest().deleteOne(clientSession, filter));
  }

  @Override
  public Publisher<DeleteResult> deleteOne(
      ClientSession clientSession, Bson filter, DeleteOptions options) {
    return inSession("deleteOne", nearest().deleteOne(clientSession, filter, options));
  }

  @Override
  public Publisher<DeleteResult> deleteMany(ClientSession clientSession, Bson filter) {
    return inSession("deleteMany", nearest().deleteMany(clientSession, filter));
  }

  @Override
  public Publisher<DeleteResult> deleteMany(
      ClientSession clientSession, Bson filter, DeleteOptions options) {
    return inSession("deleteMany", nearest().deleteMany(clientSession, filter, options));
  }

  @Override
  public Publisher<UpdateResult> replaceOne(
      ClientSession clientSession, Bson filter, TDocument replacement) {
    return inSession("replaceOne", nearest().replaceOne(clientSession, filter, replacement));
  }

  @Override
  public Publisher<UpdateResult> replaceOne(
      ClientSession clientSession, Bson filter, TDocument replacement, ReplaceOptions options) {
    return inSession(
        "replaceOne", nearest().replaceOne(clientSession, filter, replacement, options));
  }

  @Override
  public Publisher<UpdateResult> updateOne(ClientSession clientSession, Bson filter, Bson update) {
    return inSession("updateOne", nearest().updateOne(clientSession, filter, update));
  }

  @Override
  public Publisher<UpdateResult> updateOne(
      ClientSession clientSession, Bson filter, Bson update, UpdateOptions options) {
    return inSession("updateOne", nearest().updateOne(clientSession, filter, update, options));
  }

  @Override
  public Publisher<UpdateResult> updateOne(
      ClientSession clientSession, Bson filter, List<? extends Bson> update) {
    return inSession("updateOne", nearest().updateOne(clientSession, filter, update));
  }

  @Override
  public Publisher<UpdateResult> updateOne(
      ClientSession clientSession,
      Bson filter,
      List<? extends Bson> update,
      UpdateOptions options) {
    return inSession("updateOne", nearest().updateOne(clientSession, filter, update, options));
  }

  @Override
  public Publisher<UpdateResult> updateMany(ClientSession clientSession, Bson filter, Bson update) {
    return inSession("updateMany", nearest().updateMany(clientSession, filter, update));
  }

  @Override
  public Publisher<UpdateResult> updateMany(
      ClientSession clientSession, Bson filter, Bson update, UpdateOptions options) {
    return inSession("updateMany", nearest().updateMany(clientSession, filter, update, options));
  }

  @Override
  public Publisher<UpdateResult> updateMany(
      ClientSession clientSession, Bson filter, List<? extends Bson> update) {
    return inSession("updateMany", nearest().updateMany(clientSession, filter, update));
  }

  @Override
  public Publisher<UpdateResult> updateMany(
      ClientSession clientSession,
      Bson filter,
      List<? extends Bson> update,
      UpdateOptions options) {
    return inSession("updateMany", nearest().updateMany(clientSession, filter, update, options));
  }

  @Override
  public Publisher<TDocument> findOneAndDelete(ClientSession clientSession, Bson filter) {
    return inSession("findOneAndDelete", nearest().findOneAndDelete(clientSession, filter));
  }

  @Override
  public Publisher<TDocument> findOneAndDelete(
      ClientSession clientSession, Bson filter, FindOneAndDeleteOptions options) {
    return inSession(
        "findOneAndDelete", nearest().findOneAndDelete(clientSession, filter, options));
  }

  @Override
  public Publisher<TDocument> findOneAndReplace(
      ClientSession clientSession, Bson filter, TDocument replacement) {
    return inSession(
        "findOneAndReplace", nearest().findOneAndReplace(clientSession, filter, replacement));
  }

  @Override
  public Publisher<TDocument> findOneAndReplace(
      ClientSession clientSession,
      Bson filter,
      TDocument replacement,
      FindOneAndReplaceOptions options) {
    return inSession(
        "findOneAndReplace",
        nearest().findOneAndReplace(clientSession, filter, replacement, options));
  }

  @Override
  public Publisher<TDocument> findOneAndUpdate(
      ClientSession clientSession, Bson filter, Bson update) {
    return inSession("findOneAndUpdate", nearest().findOneAndUpdate(clientSession, filter, update));
  }

  @Override
  public Publisher<TDocument> findOneAndUpdate(
      ClientSession clientSession, Bson filter, Bson update, FindOneAndUpdateOptions options) {
    return inSession(
        "findOneAndUpdate", nearest().findOneAndUpdate(clientSession, filter, update, options));
  }

  @Override
  public Publisher<TDocument> findOneAndUpdate(
      ClientSession clientSession, Bson filter, List<? extends Bson> update) {
    return inSession("findOneAndUpdate", nearest().findOneAndUpdate(clientSession, filter, update));
  }

  @Override
  public Publisher<TDocument> findOneAndUpdate(
      ClientSession clientSession,
      Bson filter,
      List<? extends Bson> update,
      FindOneAndUpdateOptions options) {
    return inSession(
        "findOneAndUpdate", nearest().findOneAndUpdate(clientSession, filter, update, options));
  }
}
