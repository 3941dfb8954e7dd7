package dev.onehop.routing.internal.client;

import com.mongodb.ReadConcern;
import com.mongodb.ReadPreference;
import com.mongodb.WriteConcern;
import com.mongodb.client.model.CreateCollectionOptions;
import com.mongodb.client.model.CreateViewOptions;
import com.mongodb.reactivestreams.client.AggregatePublisher;
import com.mongodb.reactivestreams.client.ChangeStreamPublisher;
import com.mongodb.reactivestreams.client.ClientSession;
import com.mongodb.reactivestreams.client.ListCollectionNamesPublisher;
import com.mongodb.reactivestreams.client.ListCollectionsPublisher;
import com.mongodb.reactivestreams.client.MongoDatabase;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.BiFunction;
import org.bson.Document;
import org.bson.codecs.configuration.CodecRegistry;
import org.bson.conversions.Bson;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Mono;

/** A database that leaves all to the official one but its collections. */
abstract class ForwardingDatabase implements MongoDatabase {
  private final MongoDatabase nearest;

  ForwardingDatabase(MongoDatabase nearest) {
    this.nearest = nearest;
  }

  /** The official one, on the nearest mongos. */
  final MongoDatabase nearest() {
    return nearest;
  }

  /** A change stream of the nearest mongos, without an explicit session. */
  abstract <T> ChangeStreamPublisher<T> watch(ChangeStreamPublisher<T> official);

  /**
   * Runs what has no route, but may belong to the transaction of a session, where that is.
   *
   * @param call on the official database and session that are meant then
   */
  abstract <R> Mono<R> inSession(
      ClientSession clientSession, BiFunction<MongoDatabase, ClientSession, Publisher<R>> call);

  @Override
  public String getName() {
    return nearest.getName();
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
  public Publisher<Document> runCommand(Bson command) {
    return nearest.runCommand(command);
  }

  @Override
  public Publisher<Document> runCommand(Bson command, ReadPreference readPreference) {
    return nearest.runCommand(command, readPreference);
  }

  @Override
  public <TResult> Publisher<TResult> runCommand(Bson command, Class<TResult> clazz) {
    return nearest.runCommand(command, clazz);
  }

  @Override
  public <TResult> Publisher<TResult> runCommand(
      Bson command, ReadPreference readPreference, Class<TResult> clazz) {
    return nearest.runCommand(command, readPreference, clazz);
  }

  @Override
  public Publisher<Document> runCommand(ClientSession clientSession, Bson command) {
    return inSession(clientSession, (there, session) -> there.runCommand(session, command));
  }

  @Override
  public Publisher<Document> runCommand(
      ClientSession clientSession, Bson command, ReadPreference readPreference) {
    return inSession(
        clientSession, (there, session) -> there.runCommand(session, command, readPreference));
  }

  @Override
  public <TResult> Publisher<TResult> runCommand(
      ClientSession clientSession, Bson command, Class<TResult> clazz) {
    return inSession(clientSession, (there, session) -> there.runCommand(session, command, clazz));
  }

  @Override
  public <TResult> Publisher<TResult> runCommand(
      ClientSession clientSession,
      Bson command,
      ReadPreference readPreference,
      Class<TResult> clazz) {
    return inSession(
        clientSession,
        (there, session) -> there.runCommand(session, command, readPreference, clazz));
  }

  @Override
  public Publisher<Void> drop() {
    return nearest.drop();
  }

  @Override
  public Publisher<Void> drop(ClientSession clientSession) {
    return inSession(clientSession, (there, session) -> there.drop(session));
  }

  @Override
  public ListCollectionNamesPublisher listCollectionNames() {
    return nearest.listCollectionNames();
  }

  @Override
  public ListCollectionNamesPublisher listCollectionNames(ClientSession clientSession) {
    return nearest.listCollectionNames(RoutedSession.onNearest(clientSession));
  }

  @Override
  public ListCollectionsPublisher<Document> listCollections() {
    return nearest.listCollections();
  }

  @Override
  public <TResult> ListCollectionsPublisher<TResult> listCollections(Class<TResult> clazz) {
    return nearest.listCollections(clazz);
  }

  @Override
  public ListCollectionsPublisher<Document> listCollections(ClientSession clientSession) {
    return nearest.listCollections(RoutedSession.onNearest(clientSession));
  }

  @Override
  public <TResult> ListCollectionsPublisher<TResult> listCollections(
      ClientSession clientSession, Class<TResult> clazz) {
    return nearest.listCollections(RoutedSession.onNearest(clientSession), clazz);
  }

  @Override
  public Publisher<Void> createCollection(String collectionName) {
    return nearest.createCollection(collectionName);
  }

  @Override
  public Publisher<Void> createCollection(String collectionName, CreateCollectionOptions options) {
    return nearest.createCollection(collectionName, options);
  }

  @Override
  public Publisher<Void> createCollection(ClientSession clientSession, String collectionName) {
    return inSession(
        clientSession, (there, session) -> there.createCollection(session, collectionName));
  }

  @Override
  public Publisher<Void> createCollection(
      ClientSession clientSession, String collectionName, CreateCollectionOptions options) {
    return inSession(
        clientSession,
        (there, session) -> there.createCollection(session, collectionName, options));
  }

  @Override
  public Publisher<Void> createView(String viewName, String viewOn, List<? extends Bson> pipeline) {
    return nearest.createView(viewName, viewOn, pipeline);
  }

  @Override
  public Publisher<Void> createView(
      String viewName,
      String viewOn,
      List<? extends Bson> pipeline,
      CreateViewOptions createViewOptions) {
    return nearest.createView(viewName, viewOn, pipeline, createViewOptions);
  }

  @Override
  public Publisher<Void> createView(
      ClientSession clientSession, String viewName, String viewOn, List<? extends Bson> pipeline) {
    return inSession(
        clientSession, (there, session) -> there.createView(session, viewName, viewOn, pipeline));
  }

  @Override
  public Publisher<Void> createView(
      ClientSession clientSession,
      String viewName,
      String viewOn,
      List<? extends Bson> pipeline,
      CreateViewOptions createViewOptions) {
    return inSession(
        clientSession,
        (there, session) ->
            there.createView(session, viewName, viewOn, pipeline, createViewOptions));
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
  public AggregatePublisher<Document> aggregate(List<? extends Bson> pipeline) {
    return nearest.aggregate(pipeline);
  }

  @Override
  public <TResult> AggregatePublisher<TResult> aggregate(
      List<? extends Bson> pipeline, Class<TResult> resultClass) {
    return nearest.aggregate(pipeline, resultClass);
  }

  @Override
  public AggregatePublisher<Document> aggregate(
      ClientSession clientSession, List<? extends Bson> pipeline) {
    return nearest.aggregate(RoutedSession.onNearest(clientSession), pipeline);
  }

  @Override
  public <TResult> AggregatePublisher<TResult> aggregate(
      ClientSession clientSession, List<? extends Bson> pipeline, Class<TResult> resultClass) {
    return nearest.aggregate(RoutedSession.onNearest(clientSession), pipeline, resultClass);
  }
}
