package dev.onehop.wire.watch;

import com.mongodb.MongoClientSettings;
import com.mongodb.ReadPreference;
import com.mongodb.connection.ClusterDescription;
import com.mongodb.reactivestreams.client.MongoClient;
import com.mongodb.reactivestreams.client.MongoClients;
import org.bson.BsonDocument;
import reactor.core.publisher.Mono;

/** On the reactive client. The class is loaded only if that is on the class path. */
final class ReactiveDriverClient extends DriverClient {
  private final MongoClient client;

  ReactiveDriverClient(MongoClientSettings settings) {
    this.client = MongoClients.create(settings, InternalSettings.OURSELVES);
  }

  @Override
  public ClusterDescription description() {
    return client.getClusterDescription();
  }

  @Override
  public Mono<BsonDocument> run(String database, BsonDocument command, ReadPreference preference) {
    return Mono.defer(
        () ->
            Mono.from(
                client.getDatabase(database).runCommand(command, preference, BsonDocument.class)));
  }

  @Override
  public void close() {
    client.close();
  }
}
