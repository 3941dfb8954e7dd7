package dev.onehop.routing.internal.client;

import com.mongodb.ClientSessionOptions;
import com.mongodb.ReadConcern;
import com.mongodb.ReadPreference;
import com.mongodb.WriteConcern;
import com.mongodb.client.model.bulk.ClientBulkWriteOptions;
import com.mongodb.client.model.bulk.ClientBulkWriteResult;
import com.mongodb.client.model.bulk.ClientNamespacedWriteModel;
import com.mongodb.reactivestreams.client.ChangeStreamPublisher;
import com.mongodb.reactivestreams.client.ClientSession;
import com.mongodb.reactivestreams.client.ListDatabasesPublisher;
import com.mongodb.reactivestreams.client.MongoCluster;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.bson.Document;
import org.bson.codecs.configuration.CodecRegistry;
import org.bson.conversions.Bson;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;

/** A cluster handle that leaves all to the official one but its databases. */
abstract class ForwardingCluster implements MongoCluster {
  private final MongoCluster nearest;

  ForwardingCluster(MongoCluster nearest) {
    this.nearest = nearest;
  }

  /** The official one, on the nearest mongos. */
  final MongoCluster nearest() {
    return nearest;
  }

  @Override
  public CodecRegistry getCodecRegistry() {
    return nearest.getCodecRegistry();
  }

  @Override
  public ReadPreference getReadPreference() {
    return nearest.getReadPreference();
  }

  @Override
  public WriteConcern getWriteConcern() {
    return nearest.getWriteConcern();
  }

  @Override
  public ReadConcern getReadConcern() {
    return nearest.getReadConcern();
  }

  @Override
  public @Nullable Long getTimeout(TimeUnit timeUnit) {
    return nearest.getTimeout(timeUnit);
  }

  @Override
  public Publisher<ClientSession> startSession() {
    return nearest.startSession();
  }

  @Override
  public Publisher<ClientSession> startSession(ClientSessionOptions options) {
    return nearest.startSession(options);
  }

  @Override
  public Publisher<String> listDatabaseNames() {
    return nearest.listDatabaseNames();
  }

  @Override
  public Publisher<String> listDatabaseNames(ClientSession clientSession) {
    return nearest.listDatabaseNames(clientSession);
  }

  @Override
  public ListDatabasesPublisher<Document> listDatabases() {
    return nearest.listDatabases();
  }

  @Override
  public ListDatabasesPublisher<Document> listDatabases(ClientSession clientSession) {
    return nearest.listDatabases(clientSession);
  }

  @Override
  public <TResult> ListDatabasesPublisher<TResult> listDatabases(Class<TResult> resultClass) {
    return nearest.listDatabases(resultClass);
  }

  @Override
  public <TResult> ListDatabasesPublisher<TResult> listDatabases(
      ClientSession clientSession, Class<TResult> resultClass) {
    return nearest.listDatabases(clientSession, resultClass);
  }

  @Override
  public ChangeStreamPublisher<Document> watch() {
    return nearest.watch();
  }

  @Override
  public <TResult> ChangeStreamPublisher<TResult> watch(Class<TResult> resultClass) {
    return nearest.watch(resultClass);
  }

  @Override
  public ChangeStreamPublisher<Document> watch(List<? extends Bson> pipeline) {
    return nearest.watch(pipeline);
  }

  @Override
  public <TResult> ChangeStreamPublisher<TResult> watch(
      List<? extends Bson> pipeline, Class<TResult> resultClass) {
    return nearest.watch(pipeline, resultClass);
  }

  @Override
  public ChangeStreamPublisher<Document> watch(ClientSession clientSession) {
    return nearest.watch(clientSession);
  }

  @Override
  public <TResult> ChangeStreamPublisher<TResult> watch(
      ClientSession clientSession, Class<TResult> resultClass) {
    return nearest.watch(clientSession, resultClass);
  }

  @Override
  public ChangeStreamPublisher<Document> watch(
      ClientSession clientSession, List<? extends Bson> pipeline) {
    return nearest.watch(clientSession, pipeline);
  }

  @Override
  public <TResult> ChangeStreamPublisher<TResult> watch(
      ClientSession clientSession, List<? extends Bson> pipeline, Class<TResult> resultClass) {
    return nearest.watch(clientSession, pipeline, resultClass);
  }

  @Override
  public Publisher<ClientBulkWriteResult> bulkWrite(
      List<? extends ClientNamespacedWriteModel> models) {
    return nearest.bulkWrite(models);
  }

  @Override
  public Publisher<ClientBulkWriteResult> bulkWrite(
      List<? extends ClientNamespacedWriteModel> models, ClientBulkWriteOptions options) {
    return nearest.bulkWrite(models, options);
  }

  @Override
  public Publisher<ClientBulkWriteResult> bulkWrite(
      ClientSession clientSession, List<? extends ClientNamespacedWriteModel> models) {
    return nearest.bulkWrite(clientSession, models);
  }

  @Override
  public Publisher<ClientBulkWriteResult> bulkWrite(
      ClientSession clientSession,
      List<? extends ClientNamespacedWriteModel> models,
      ClientBulkWriteOptions options) {
    return nearest.bulkWrite(clientSession, models, options);
  }
}
