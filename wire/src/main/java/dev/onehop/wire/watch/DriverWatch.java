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
 * An official client that watches servers. The driver checks a server that it has lost with the
 * next heartbeat only, or as long as an operation waits for a server, every half second. So for a
 * prompt check an operation waits, for a server that never comes.
 *
 * <p>Resets the connections to servers that it loses. As the driver does with its own: requests
 * that are under way fail if a server says nothing any more; otherwise they may still be answered.
 * Source: the drivers' specification "Server Discovery and Monitoring".
 *
 * <p>Thread-safe.
 */
final class DriverWatch implements ServerMonitor, ClusterListener, ServerMonitorListener {
  /** How long the servers are checked often. */
  private static final Duration FOR = Duration.ofSeconds(5);

  private final Connections connections;
  private final Runnable changed;
  private final DriverClient client;
  private final AtomicBoolean asked = new AtomicBoolean();
  private boolean closed;

  /**
   * Begins to watch the servers that the settings name.
   *
   * @param connections to the servers; stay the caller's
   * @param changed told of every change on the driver's threads, which hold its locks
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

  /**
   * No request is sent to a lost server any more when this is told: what fails now may be sent
   * again at once.
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
   * A server that stays silent changes nothing any more. What was sent to it at the last moment
   * fails with the next heartbeat.
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
