package dev.onehop.wire.watch;

import com.mongodb.MongoClientSettings;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.connection.ClusterDescription;
import org.bson.Document;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/**
 * A monitoring client with the synchronous driver. Loaded only if the driver is on the class path.
 */
final class SyncDriverClient extends DriverClient {
  /**
   * Starts a new thread for each operation. On Reactor's schedulers, operations that wait for a
   * lost server would block threads that other code shares.
   */
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
