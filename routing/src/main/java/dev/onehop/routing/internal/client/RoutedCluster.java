package dev.onehop.routing.internal.client;

import com.mongodb.ClientSessionOptions;
import com.mongodb.ReadConcern;
import com.mongodb.ReadPreference;
import com.mongodb.WriteConcern;
import com.mongodb.reactivestreams.client.ChangeStreamPublisher;
import com.mongodb.reactivestreams.client.ClientSession;
import com.mongodb.reactivestreams.client.MongoCluster;
import com.mongodb.reactivestreams.client.MongoDatabase;
import java.util.concurrent.TimeUnit;
import java.util.function.BiFunction;
import org.bson.codecs.configuration.CodecRegistry;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Mono;

/** A cluster handle whose databases are routed. */
class RoutedCluster extends ForwardingCluster {
  private final OperationRouter router;

  RoutedCluster(MongoCluster nearest, OperationRouter router) {
    super(nearest);
    this.router = router;
  }

  @Override
  final <T> ChangeStreamPublisher<T> watch(ChangeStreamPublisher<T> official) {
    return new RoutedWatch<>(router.times(), official, nearest().getTimeout(TimeUnit.MILLISECONDS));
  }

  @Override
  final <R> Mono<R> inSession(
      ClientSession clientSession, BiFunction<MongoCluster, ClientSession, Publisher<R>> call) {
    return Mono.from(
        RoutedSession.unrouted(
            router,
            clientSession,
            nearest(),
            client -> router.counterpart().cluster(client.client(), nearest()),
            call));
  }

  @Override
  public Publisher<ClientSession> startSession() {
    return session(nearest().startSession());
  }

  @Override
  public Publisher<ClientSession> startSession(ClientSessionOptions options) {
    return session(nearest().startSession(options));
  }

  private Publisher<ClientSession> session(Publisher<ClientSession> started) {
    return Mono.from(started).map(official -> new RoutedSession(router, official));
  }

  @Override
  public MongoDatabase getDatabase(String databaseName) {
    return new RoutedDatabase(nearest().getDatabase(databaseName), router);
  }

  @Override
  public MongoCluster withCodecRegistry(CodecRegistry codecRegistry) {
    return new RoutedCluster(nearest().withCodecRegistry(codecRegistry), router);
  }

  @Override
  public MongoCluster withReadPreference(ReadPreference readPreference) {
    return new RoutedCluster(nearest().withReadPreference(readPreference), router);
  }

  @Override
  public MongoCluster withWriteConcern(WriteConcern writeConcern) {
    return new RoutedCluster(nearest().withWriteConcern(writeConcern), router);
  }

  @Override
  public MongoCluster withReadConcern(ReadConcern readConcern) {
    return new RoutedCluster(nearest().withReadConcern(readConcern), router);
  }

  @Override
  public MongoCluster withTimeout(long timeout, TimeUnit timeUnit) {
    return new RoutedCluster(nearest().withTimeout(timeout, timeUnit), router);
  }
}
