package dev.onehop.routing.internal.client;

import com.mongodb.MongoNamespace;
import com.mongodb.ReadConcern;
import com.mongodb.ReadPreference;
import com.mongodb.WriteConcern;
import com.mongodb.client.model.CreateIndexOptions;
import com.mongodb.client.model.DropCollectionOptions;
import com.mongodb.client.model.DropIndexOptions;
import com.mongodb.client.model.EstimatedDocumentCountOptions;
import com.mongodb.client.model.IndexModel;
import com.mongodb.client.model.IndexOptions;
import com.mongodb.client.model.RenameCollectionOptions;
import com.mongodb.client.model.SearchIndexModel;
import com.mongodb.reactivestreams.client.ChangeStreamPublisher;
import com.mongodb.reactivestreams.client.ClientSession;
import com.mongodb.reactivestreams.client.ListIndexesPublisher;
import com.mongodb.reactivestreams.client.ListSearchIndexesPublisher;
import com.mongodb.reactivestreams.client.MapReducePublisher;
import com.mongodb.reactivestreams.client.MongoCollection;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.BiFunction;
import org.bson.Document;
import org.bson.codecs.configuration.CodecRegistry;
import org.bson.conversions.Bson;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;

/**
 * A collection that leaves to the official one all that is not routed: its settings, indexes,
 * change streams and the commands that change the collection as a whole.
 *
 * @param <TDocument> the type of its documents
 */
abstract class ForwardingCollection<TDocument> implements MongoCollection<TDocument> {
  private final MongoCollection<TDocument> nearest;

  ForwardingCollection(MongoCollection<TDocument> nearest) {
    this.nearest = nearest;
  }

  /** The official collection on the nearest mongos. */
  final MongoCollection<TDocument> nearest() {
    return nearest;
  }

  /** A change stream of the nearest mongos, without an explicit session. */
  abstract <T> ChangeStreamPublisher<T> watch(ChangeStreamPublisher<T> official);

  /**
   * Runs what has no route, but may belong to the transaction of a session, where that is.
   *
   * @param call on the official collection and session that are meant then
   */
  abstract <R> Flux<R> inSession(
      ClientSession clientSession,
      BiFunction<MongoCollection<TDocument>, ClientSession, Publisher<R>> call);

  @Override
  public MongoNamespace getNamespace() {
    return nearest.getNamespace();
  }

  @Override
  public Class<TDocument> getDocumentClass() {
    return nearest.getDocumentClass();
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
  public Publisher<Long> estimatedDocumentCount() {
    return nearest.estimatedDocumentCount();
  }

  @Override
  public Publisher<Long> estimatedDocumentCount(EstimatedDocumentCountOptions options) {
    return nearest.estimatedDocumentCount(options);
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
  @Deprecated
  public MapReducePublisher<TDocument> mapReduce(String mapFunction, String reduceFunction) {
    return nearest.mapReduce(mapFunction, reduceFunction);
  }

  @Override
  @Deprecated
  public <TResult> MapReducePublisher<TResult> mapReduce(
      String mapFunction, String reduceFunction, Class<TResult> clazz) {
    return nearest.mapReduce(mapFunction, reduceFunction, clazz);
  }

  @Override
  @Deprecated
  public MapReducePublisher<TDocument> mapReduce(
      ClientSession clientSession, String mapFunction, String reduceFunction) {
    return nearest.mapReduce(RoutedSession.onNearest(clientSession), mapFunction, reduceFunction);
  }

  @Override
  @Deprecated
  public <TResult> MapReducePublisher<TResult> mapReduce(
      ClientSession clientSession,
      String mapFunction,
      String reduceFunction,
      Class<TResult> clazz) {
    return nearest.mapReduce(
        RoutedSession.onNearest(clientSession), mapFunction, reduceFunction, clazz);
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
  public Publisher<Void> drop(DropCollectionOptions dropCollectionOptions) {
    return nearest.drop(dropCollectionOptions);
  }

  @Override
  public Publisher<Void> drop(
      ClientSession clientSession, DropCollectionOptions dropCollectionOptions) {
    return inSession(clientSession, (there, session) -> there.drop(session, dropCollectionOptions));
  }

  @Override
  public Publisher<String> createSearchIndex(String indexName, Bson definition) {
    return nearest.createSearchIndex(indexName, definition);
  }

  @Override
  public Publisher<String> createSearchIndex(Bson definition) {
    return nearest.createSearchIndex(definition);
  }

  @Override
  public Publisher<String> createSearchIndexes(List<SearchIndexModel> searchIndexModels) {
    return nearest.createSearchIndexes(searchIndexModels);
  }

  @Override
  public Publisher<Void> updateSearchIndex(String indexName, Bson definition) {
    return nearest.updateSearchIndex(indexName, definition);
  }

  @Override
  public Publisher<Void> dropSearchIndex(String indexName) {
    return nearest.dropSearchIndex(indexName);
  }

  @Override
  public ListSearchIndexesPublisher<Document> listSearchIndexes() {
    return nearest.listSearchIndexes();
  }

  @Override
  public <TResult> ListSearchIndexesPublisher<TResult> listSearchIndexes(
      Class<TResult> resultClass) {
    return nearest.listSearchIndexes(resultClass);
  }

  @Override
  public Publisher<String> createIndex(Bson key) {
    return nearest.createIndex(key);
  }

  @Override
  public Publisher<String> createIndex(Bson key, IndexOptions options) {
    return nearest.createIndex(key, options);
  }

  @Override
  public Publisher<String> createIndex(ClientSession clientSession, Bson key) {
    return inSession(clientSession, (there, session) -> there.createIndex(session, key));
  }

  @Override
  public Publisher<String> createIndex(
      ClientSession clientSession, Bson key, IndexOptions options) {
    return inSession(clientSession, (there, session) -> there.createIndex(session, key, options));
  }

  @Override
  public Publisher<String> createIndexes(List<IndexModel> indexes) {
    return nearest.createIndexes(indexes);
  }

  @Override
  public Publisher<String> createIndexes(
      List<IndexModel> indexes, CreateIndexOptions createIndexOptions) {
    return nearest.createIndexes(indexes, createIndexOptions);
  }

  @Override
  public Publisher<String> createIndexes(ClientSession clientSession, List<IndexModel> indexes) {
    return inSession(clientSession, (there, session) -> there.createIndexes(session, indexes));
  }

  @Override
  public Publisher<String> createIndexes(
      ClientSession clientSession,
      List<IndexModel> indexes,
      CreateIndexOptions createIndexOptions) {
    return inSession(
        clientSession,
        (there, session) -> there.createIndexes(session, indexes, createIndexOptions));
  }

  @Override
  public ListIndexesPublisher<Document> listIndexes() {
    return nearest.listIndexes();
  }

  @Override
  public <TResult> ListIndexesPublisher<TResult> listIndexes(Class<TResult> clazz) {
    return nearest.listIndexes(clazz);
  }

  @Override
  public ListIndexesPublisher<Document> listIndexes(ClientSession clientSession) {
    return nearest.listIndexes(RoutedSession.onNearest(clientSession));
  }

  @Override
  public <TResult> ListIndexesPublisher<TResult> listIndexes(
      ClientSession clientSession, Class<TResult> clazz) {
    return nearest.listIndexes(RoutedSession.onNearest(clientSession), clazz);
  }

  @Override
  public Publisher<Void> dropIndex(String indexName) {
    return nearest.dropIndex(indexName);
  }

  @Override
  public Publisher<Void> dropIndex(Bson keys) {
    return nearest.dropIndex(keys);
  }

  @Override
  public Publisher<Void> dropIndex(String indexName, DropIndexOptions dropIndexOptions) {
    return nearest.dropIndex(indexName, dropIndexOptions);
  }

  @Override
  public Publisher<Void> dropIndex(Bson keys, DropIndexOptions dropIndexOptions) {
    return nearest.dropIndex(keys, dropIndexOptions);
  }

  @Override
  public Publisher<Void> dropIndex(ClientSession clientSession, String indexName) {
    return inSession(clientSession, (there, session) -> there.dropIndex(session, indexName));
  }

  @Override
  public Publisher<Void> dropIndex(ClientSession clientSession, Bson keys) {
    return inSession(clientSession, (there, session) -> there.dropIndex(session, keys));
  }

  @Override
  public Publisher<Void> dropIndex(
      ClientSession clientSession, String indexName, DropIndexOptions dropIndexOptions) {
    return inSession(
        clientSession, (there, session) -> there.dropIndex(session, indexName, dropIndexOptions));
  }

  @Override
  public Publisher<Void> dropIndex(
      ClientSession clientSession, Bson keys, DropIndexOptions dropIndexOptions) {
    return inSession(
        clientSession, (there, session) -> there.dropIndex(session, keys, dropIndexOptions));
  }

  @Override
  public Publisher<Void> dropIndexes() {
    return nearest.dropIndexes();
  }

  @Override
  public Publisher<Void> dropIndexes(DropIndexOptions dropIndexOptions) {
    return nearest.dropIndexes(dropIndexOptions);
  }

  @Override
  public Publisher<Void> dropIndexes(ClientSession clientSession) {
    return inSession(clientSession, (there, session) -> there.dropIndexes(session));
  }

  @Override
  public Publisher<Void> dropIndexes(
      ClientSession clientSession, DropIndexOptions dropIndexOptions) {
    return inSession(
        clientSession, (there, session) -> there.dropIndexes(session, dropIndexOptions));
  }

  @Override
  public Publisher<Void> renameCollection(MongoNamespace newCollectionNamespace) {
    return nearest.renameCollection(newCollectionNamespace);
  }

  @Override
  public Publisher<Void> renameCollection(
      MongoNamespace newCollectionNamespace, RenameCollectionOptions options) {
    return nearest.renameCollection(newCollectionNamespace, options);
  }

  @Override
  public Publisher<Void> renameCollection(
      ClientSession clientSession, MongoNamespace newCollectionNamespace) {
    return inSession(
        clientSession, (there, session) -> there.renameCollection(session, newCollectionNamespace));
  }

  @Override
  public Publisher<Void> renameCollection(
      ClientSession clientSession,
      MongoNamespace newCollectionNamespace,
      RenameCollectionOptions options) {
    return inSession(
        clientSession,
        (there, session) -> there.renameCollection(session, newCollectionNamespace, options));
  }
}
