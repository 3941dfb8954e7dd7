package dev.onehop.routing.internal.client;

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
import java.util.function.BiFunction;
import org.bson.Document;
import org.bson.codecs.configuration.CodecRegistry;
import org.bson.conversions.Bson;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Mono;

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

  /** A change stream of the nearest mongos, without an explicit session. */
  abstract <T> ChangeStreamPublisher<T> watch(ChangeStreamPublisher<T> official);

  /**
   * Runs what has no route, but may belong to the transaction of a session, where that is.
   *
   * @param call on the official cluster handle and session that are meant then
   */
  abstract <R> Mono<R> inSession(
      ClientSession clientSession, BiFunction<MongoCluster, ClientSession, Publisher<R>> call);

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
  public Publisher<String> listDatabaseNames() {
    return nearest.listDatabaseNames();
  }

  @Override
  public Publisher<String> listDatabaseNames(ClientSession clientSession) {
    return nearest.listDatabaseNames(RoutedSession.onNearest(clientSession));
  }

  @Override
  public ListDatabasesPublisher<Document> listDatabases() {
    return nearest.listDatabases();
  }

  @Override
  public ListDatabasesPublisher<Document> listDatabases(ClientSession clientSession) {
    return nearest.listDatabases(RoutedSession.onNearest(clientSession));
  }

  @Override
  public <TResult> ListDatabasesPublisher<TResult> listDatabases(Class<TResult> resultClass) {
    return nearest.listDatabases(resultClass);
  }

  @Override
  public <TResult> ListDatabasesPublisher<TResult> listDatabases(
      ClientSession clientSession, Class<TResult> resultClass) {
    return nearest.listDatabases(RoutedSession.onNearest(clientSession), resultClass);
  }

  @Override
  public ChangeStreamPublisher<Document> watch() {
    return watch(nearest.watch());
  }

  @Override
  public <TResult> ChangeStreamPublisher<TResult> watch(Class<TResult> resultClass) {
    return watch(nearest.watch(resultClass));
  }

  @Override
  public ChangeStreamPublisher<Document> watch(List<? extends Bson> pipeline) {
    return watch(nearest.watch(pipeline));
  }

  @Override
  public <TResult> ChangeStreamPublisher<TResult> watch(
      List<? extends Bson> pipeline, Class<TResult> resultClass) {
    return watch(nearest.watch(pipeline, resultClass));
  }

  @Override
  public ChangeStreamPublisher<Document> watch(ClientSession clientSession) {
    return nearest.watch(RoutedSession.onNearest(clientSession));
  }

  @Override
  public <TResult> ChangeStreamPublisher<TResult> watch(
      ClientSession clientSession, Class<TResult> resultClass) {
    return nearest.watch(RoutedSession.onNearest(clientSession), resultClass);
  }

  @Override
  public ChangeStreamPublisher<Document> watch(
      ClientSession clientSession, List<? extends Bson> pipeline) {
    return nearest.watch(RoutedSession.onNearest(clientSession), pipeline);
  }

  @Override
  public <TResult> ChangeStreamPublisher<TResult> watch(
      ClientSession clientSession, List<? extends Bson> pipeline, Class<TResult> resultClass) {
    return nearest.watch(RoutedSession.onNearest(clientSession), pipeline, resultClass);
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
    return inSession(clientSession, (there, session) -> there.bulkWrite(session, models));
  }

  @Override
  public Publisher<ClientBulkWriteResult> bulkWrite(
      ClientSession clientSession,
      List<? extends ClientNamespacedWriteModel> models,
      ClientBulkWriteOptions options) {
    return inSession(clientSession, (there, session) -> there.bulkWrite(session, models, options));
  }
}
