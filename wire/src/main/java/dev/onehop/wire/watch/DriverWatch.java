package dev.onehop.wire.watch;

import com.mongodb.MongoClientSettings;
import com.mongodb.connection.ClusterDescription;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import reactor.core.scheduler.Schedulers;

/**
 * An official client that watches servers. The driver checks a server that it has lost with the
 * next heartbeat only, or as long as an operation waits for a server, every half second. So for a
 * prompt check an operation waits, for a server that never comes.
 *
 * <p>Thread-safe.
 */
final class DriverWatch implements Watching {
  /** How long the servers are checked often. */
  private static final Duration FOR = Duration.ofSeconds(5);

  private final DriverClient client;
  private final AtomicBoolean asked = new AtomicBoolean();
  private boolean closed;

  /**
   * Begins to watch the servers that the settings name.
   *
   * @param losses told on the driver's threads, which hold its locks
   */
  DriverWatch(MongoClientSettings settings, Losses losses) {
    MongoClientSettings.Builder checking =
        MongoClientSettings.builder(settings)
            .applyToServerSettings(server -> server.addServerMonitorListener(losses))
            .applyToClusterSettings(
                cluster ->
                    cluster
                        .addClusterListener(losses)
                        .serverSelector(servers -> List.of())
                        .serverSelectionTimeout(FOR.toMillis(), TimeUnit.MILLISECONDS));
    DriverObservations.turnOff(checking);
    this.client = DriverClient.connect(checking.build());
  }

  @Override
  public ClusterDescription description() {
    return client.description();
  }

  /**
   * Elsewhere: the caller may hold the locks of a driver's client, and the driver takes this one's.
   */
  @Override
  public void checkNow() {
    if (asked.compareAndSet(false, true)) {
      Schedulers.boundedElastic().schedule(this::check);
    }
  }

  private synchronized void check() {
    // The driver answers an operation twice, into its log, whose client is closed under it.
    if (!closed) {
      client.ping().doFinally(end -> asked.set(false)).subscribe(null, noServer -> {});
    }
  }

  @Override
  public synchronized void close() {
    closed = true;
    client.close();
  }
}
