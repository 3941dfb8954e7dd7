package dev.onehop.routing.internal.client;

import com.mongodb.ReadConcern;
import com.mongodb.ReadPreference;
import com.mongodb.WriteConcern;
import com.mongodb.reactivestreams.client.ChangeStreamPublisher;
import com.mongodb.reactivestreams.client.ClientSession;
import com.mongodb.reactivestreams.client.MongoCollection;
import com.mongodb.reactivestreams.client.MongoDatabase;
import java.util.concurrent.TimeUnit;
import java.util.function.BiFunction;
import org.bson.Document;
import org.bson.codecs.configuration.CodecRegistry;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Mono;

/** A database whose collections are routed. */
final class RoutedDatabase extends ForwardingDatabase {
  private final OperationRouter router;

  RoutedDatabase(MongoDatabase nearest, OperationRouter router) {
    super(nearest);
    this.router = router;
  }

  @Override
  <T> ChangeStreamPublisher<T> watch(ChangeStreamPublisher<T> official) {
    return new RoutedWatch<>(router.times(), official, nearest().getTimeout(TimeUnit.MILLISECONDS));
  }

  @Override
  <R> Mono<R> inSession(
      ClientSession clientSession, BiFunction<MongoDatabase, ClientSession, Publisher<R>> call) {
    return Mono.from(
        RoutedSession.unrouted(
            router,
            clientSession,
            nearest(),
            client -> router.counterpart().database(client.client(), nearest()),
            call));
  }

  @Override
  public MongoCollection<Document> getCollection(String collectionName) {
    return new RoutedCollection<>(nearest().getCollection(collectionName), router);
  }

  @Override
  public <TDocument> MongoCollection<TDocument> getCollection(
      String collectionName, Class<TDocument> clazz) {
    return new RoutedCollection<>(nearest().getCollection(collectionName, clazz), router);
  }

  @Override
  public MongoDatabase withCodecRegistry(CodecRegistry codecRegistry) {
    return new RoutedDatabase(nearest().withCodecRegistry(codecRegistry), router);
  }

  @Override
  public MongoDatabase withReadPreference(ReadPreference readPreference) {
    return new RoutedDatabase(nearest().withReadPreference(readPreference), router);
  }

  @Override
  public MongoDatabase withWriteConcern(WriteConcern writeConcern) {
    return new RoutedDatabase(nearest().withWriteConcern(writeConcern), router);
  }

  @Override
  public MongoDatabase withReadConcern(ReadConcern readConcern) {
    return new RoutedDatabase(nearest().withReadConcern(readConcern), router);
  }

  @Override
  public MongoDatabase withTimeout(long timeout, TimeUnit timeUnit) {
    return new RoutedDatabase(nearest().withTimeout(timeout, timeUnit), router);
  }
}
