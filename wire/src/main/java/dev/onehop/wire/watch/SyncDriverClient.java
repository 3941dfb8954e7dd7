package dev.onehop.wire.watch;

import com.mongodb.MongoClientSettings;
import com.mongodb.ReadPreference;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.connection.ClusterDescription;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.bson.BsonDocument;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/** On the synchronous client. The class is loaded only if that is on the class path. */
final class SyncDriverClient extends DriverClient {
  /** Not Reactor's: operations that wait for a lost server would hold threads of all its users. */
  private static final Scheduler THREADS = Schedulers.fromExecutor(threads());

  private final MongoClient client;

  SyncDriverClient(MongoClientSettings settings) {
    this.client = MongoClients.create(settings, InternalSettings.OURSELVES);
  }

  private static ExecutorService threads() {
    return new ThreadPoolExecutor(
        0,
        Integer.MAX_VALUE,
        5,
        TimeUnit.SECONDS,
        new SynchronousQueue<>(),
        task -> {
          Thread thread = new Thread(task, "onehop-driver");
          thread.setDaemon(true);
          return thread;
        });
  }

  @Override
  public ClusterDescription description() {
    return client.getClusterDescription();
  }

  @Override
  public Mono<BsonDocument> run(String database, BsonDocument command, ReadPreference preference) {
    return Mono.fromCallable(
            () -> client.getDatabase(database).runCommand(command, preference, BsonDocument.class))
        .subscribeOn(THREADS);
  }

  @Override
  public void close() {
    client.close();
  }
}
