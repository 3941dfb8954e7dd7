package dev.onehop.wire.watch;

import com.mongodb.MongoClientSettings;
import com.mongodb.MongoSocketReadTimeoutException;
import com.mongodb.ServerAddress;
import com.mongodb.connection.ClusterDescription;
import com.mongodb.connection.ServerDescription;
import com.mongodb.event.ClusterDescriptionChangedEvent;
import com.mongodb.event.ClusterListener;
import com.mongodb.event.ServerHeartbeatFailedEvent;
import com.mongodb.event.ServerMonitorListener;
import dev.onehop.wire.ServerAddressName;
import dev.onehop.wire.connection.Connections;
import java.io.IOException;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import reactor.core.scheduler.Schedulers;

/**
 * An official client that monitors servers. The driver checks a lost server only with the next
 * heartbeat, or every half second while an operation waits for a server. For a prompt check, this
 * class therefore runs an operation whose server selector accepts no server.
 *
 * <p>When a server is lost, this class resets the connections to this server, by the driver's own
 * rules. If the server has stopped responding, requests in flight fail. Otherwise they may still
 * get a reply. Source: the drivers' specification "Server Discovery and Monitoring".
 *
 * <p>Thread-safe.
 */
final class DriverWatch implements ServerMonitor, ClusterListener, ServerMonitorListener {
  /** The time for which the operation waits, and the driver therefore checks the servers often. */
  private static final Duration FOR = Duration.ofSeconds(5);

  private final Connections connections;
  private final Runnable changed;
  private final DriverClient client;
  private final AtomicBoolean pending = new AtomicBoolean();
  private boolean closed;

  /**
   * Starts to watch the servers in the settings.
   *
   * @param connections the connections to the servers; the caller closes them
   * @param changed called for every change, on the driver's threads, which hold the driver's locks
   */
  DriverWatch(MongoClientSettings settings, Connections connections, Runnable changed) {
    this.connections = connections;
    this.changed = changed;
    MongoClientSettings.Builder checking =
        MongoClientSettings.builder(settings)
            .applyToServerSettings(server -> server.addServerMonitorListener(this))
            .applyToClusterSettings(
                cluster ->
                    cluster
                        .addClusterListener(this)
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
   * Schedules the check on another thread, to avoid a deadlock: the caller may hold locks of the
   * driver, and the check acquires locks of the driver, too.
   */
  @Override
  public void checkNow() {
    if (pending.compareAndSet(false, true)) {
      Schedulers.boundedElastic().schedule(this::check);
    }
  }

  private synchronized void check() {
    // If a client is closed during an operation, the driver completes the operation twice and logs
    // an error.
    if (!closed) {
      client.ping().doFinally(end -> pending.set(false)).subscribe(null, noServer -> {});
    }
  }

  /**
   * Resets connections before the change is published. A request that fails because of the reset
   * can then be retried at once.
   */
  @Override
  public void clusterDescriptionChanged(ClusterDescriptionChangedEvent event) {
    Set<@Nullable Throwable> known = new HashSet<>();
    event
        .getPreviousDescription()
        .getServerDescriptions()
        .forEach(each -> known.add(each.getException()));
    for (ServerDescription server : event.getNewDescription().getServerDescriptions()) {
      Throwable failure = server.getException();
      if (!server.isOk() && failure != null && !known.contains(failure)) {
        reset(server.getAddress(), failure);
      }
    }
    changed.run();
  }

  /**
   * Handles a server that stays silent. After its first failed heartbeat, its description does not
   * change, so {@link #clusterDescriptionChanged} is not called. Requests that were sent after that
   * heartbeat fail with the next failed heartbeat.
   */
  @Override
  public void serverHeartbeatFailed(ServerHeartbeatFailedEvent event) {
    if (event.getThrowable() instanceof MongoSocketReadTimeoutException silent) {
      reset(event.getConnectionId().getServerId().getAddress(), silent);
    }
  }

  private void reset(ServerAddress address, Throwable failure) {
    ServerAddressName server = SingleServer.name(address);
    connections.reset(
        server,
        failure instanceof MongoSocketReadTimeoutException,
        new IOException(server + " is lost: " + Servers.rootMessage(failure)));
  }

  @Override
  public synchronized void close() {
    closed = true;
    client.close();
  }
}
