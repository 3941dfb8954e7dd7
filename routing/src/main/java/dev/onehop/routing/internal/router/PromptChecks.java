package dev.onehop.routing.internal.router;

import com.mongodb.MongoClientSettings;
import com.mongodb.MongoDriverInformation;
import com.mongodb.reactivestreams.client.MongoClient;
import com.mongodb.reactivestreams.client.MongoClients;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.bson.Document;
import reactor.core.publisher.Mono;

/**
 * A driver's client that is there to watch servers. The driver checks a server that it has lost
 * with the next heartbeat only, or as long as an operation waits for a server, every half second.
 * So here an operation waits, for one that never comes.
 *
 * <p>Thread-safe.
 */
final class PromptChecks implements MonitoredServers.Watching {
  /** How long the servers are checked often. */
  static final Duration FOR = Duration.ofSeconds(5);

  private static final Document PING = new Document("ping", 1);

  private final MongoClient client;
  private final AtomicBoolean asked = new AtomicBoolean();
  private boolean closed;

  PromptChecks(MongoClientSettings settings) {
    MongoClientSettings.Builder checking =
        MongoClientSettings.builder(settings)
            .applyToClusterSettings(
                cluster ->
                    cluster
                        .serverSelector(servers -> List.of())
                        .serverSelectionTimeout(FOR.toMillis(), TimeUnit.MILLISECONDS));
    DriverObservations.turnOff(checking);
    this.client =
        MongoClients.create(
            checking.build(), MongoDriverInformation.builder().driverName("onehop").build());
  }

  @Override
  public synchronized void checkNow() {
    // The driver answers an operation twice, into its log, whose client is closed under it.
    if (!closed && asked.compareAndSet(false, true)) {
      Mono.defer(() -> Mono.from(client.getDatabase("admin").runCommand(PING)))
          .doFinally(end -> asked.set(false))
          .subscribe(null, noServer -> {});
    }
  }

  @Override
  public synchronized void close() {
    closed = true;
    client.close();
  }
}
