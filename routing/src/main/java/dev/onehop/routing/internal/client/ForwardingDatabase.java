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
import org.bson.Document;
import org.bson.codecs.configuration.CodecRegistry;
import org.bson.conversions.Bson;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;

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
    return nearest.runCommand(clientSession, command);
  }

  @Override
  public Publisher<Document> runCommand(
      ClientSession clientSession, Bson command, ReadPreference readPreference) {
    return nearest.runCommand(clientSession, command, readPreference);
  }

  @Override
  public <TResult> Publisher<TResult> runCommand(
      ClientSession clientSession, Bson command, Class<TResult> clazz) {
    return nearest.runCommand(clientSession, command, clazz);
  }

  @Override
  public <TResult> Publisher<TResult> runCommand(
      ClientSession clientSession,
      Bson command,
      ReadPreference readPreference,
      Class<TResult> clazz) {
    return nearest.runCommand(clientSession, command, readPreference, clazz);
  }

  @Override
  public Publisher<Void> drop() {
    return nearest.drop();
  }

  @Override
  public Publisher<Void> drop(ClientSession clientSession) {
    return nearest.drop(clientSession);
  }

  @Override
  public ListCollectionNamesPublisher listCollectionNames() {
    return nearest.listCollectionNames();
  }

  @Override
  public ListCollectionNamesPublisher listCollectionNames(ClientSession clientSession) {
    return nearest.listCollectionNames(clientSession);
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
    return nearest.listCollections(clientSession);
  }

  @Override
  public <TResult> ListCollectionsPublisher<TResult> listCollections(
      ClientSession clientSession, Class<TResult> clazz) {
    return nearest.listCollections(clientSession, clazz);
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
    return nearest.createCollection(clientSession, collectionName);
  }

  @Override
  public Publisher<Void> createCollection(
      ClientSession clientSession, String collectionName, CreateCollectionOptions options) {
    return nearest.createCollection(clientSession, collectionName, options);
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
    return nearest.createView(clientSession, viewName, viewOn, pipeline);
  }

  @Override
  public Publisher<Void> createView(
      ClientSession clientSession,
      String viewName,
      String viewOn,
      List<? extends Bson> pipeline,
      CreateViewOptions createViewOptions) {
    return nearest.createView(clientSession, viewName, viewOn, pipeline, createViewOptions);
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
    return nearest.aggregate(clientSession, pipeline);
  }

  @Override
  public <TResult> AggregatePublisher<TResult> aggregate(
      ClientSession clientSession, List<? extends Bson> pipeline, Class<TResult> resultClass) {
    return nearest.aggregate(clientSession, pipeline, resultClass);
  }
}
