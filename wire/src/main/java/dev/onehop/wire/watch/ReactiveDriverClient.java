package dev.onehop.wire.watch;

import com.mongodb.MongoClientSettings;
import com.mongodb.connection.ClusterDescription;
import com.mongodb.reactivestreams.client.MongoClient;
import com.mongodb.reactivestreams.client.MongoClients;
import org.bson.Document;
import reactor.core.publisher.Mono;

/** A monitoring client with the reactive driver. Loaded only if the driver is on the class path. */
final class ReactiveDriverClient extends DriverClient {
  private final MongoClient client;

  ReactiveDriverClient(MongoClientSettings settings) {
    this.client = MongoClients.create(settings, InternalSettings.OURSELVES);
  }

  @Override
  ClusterDescription description() {
    return client.getClusterDescription();
  }

  @Override
  Mono<Document> ping() {
    return Mono.defer(() -> Mono.from(client.getDatabase("admin").runCommand(PING)));
  }

  @Override
  public void close() {
    client.close();
  }
}
