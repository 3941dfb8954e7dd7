package dev.onehop.wire.watch;

import com.mongodb.MongoClientSettings;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.connection.ClusterDescription;
import org.bson.Document;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/** On the synchronous client. The class is loaded only if that is on the class path. */
final class SyncDriverClient extends DriverClient {
  /** Not Reactor's: operations that wait for a lost server would hold threads of all its users. */
  private static final Scheduler THREADS =
      Schedulers.fromExecutor(
          task -> {
            Thread thread = new Thread(task, "onehop-driver");
            thread.setDaemon(true);
            thread.start();
          });

  private final MongoClient client;

  SyncDriverClient(MongoClientSettings settings) {
    this.client = MongoClients.create(settings, InternalSettings.OURSELVES);
  }

  @Override
  ClusterDescription description() {
    return client.getClusterDescription();
  }

  @Override
  Mono<Document> ping() {
    return Mono.fromCallable(() -> client.getDatabase("admin").runCommand(PING))
        .subscribeOn(THREADS);
  }

  @Override
  public void close() {
    client.close();
  }
}
