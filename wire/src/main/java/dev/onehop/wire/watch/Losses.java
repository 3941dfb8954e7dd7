package dev.onehop.wire.watch;

import com.mongodb.MongoSocketReadTimeoutException;
import com.mongodb.ServerAddress;
import com.mongodb.connection.ServerDescription;
import com.mongodb.event.ClusterDescriptionChangedEvent;
import com.mongodb.event.ClusterListener;
import com.mongodb.event.ServerHeartbeatFailedEvent;
import com.mongodb.event.ServerMonitorListener;
import dev.onehop.wire.connection.Connections;
import java.io.IOException;
import java.util.HashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Resets the connections to servers that the driver's monitors have lost. As the driver does with
 * its own: requests that are under way fail if a server says nothing any more; otherwise they may
 * still be answered. Source: the drivers' specification "Server Discovery and Monitoring".
 *
 * <p>Thread-safe.
 */
final class Losses implements ClusterListener, ServerMonitorListener {
  private final Connections connections;
  private final Runnable changed;

  /**
   * @param changed told of every change afterwards
   */
  Losses(Connections connections, Runnable changed) {
    this.connections = connections;
    this.changed = changed;
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
    connections.reset(
        SingleServer.name(address),
        failure instanceof MongoSocketReadTimeoutException,
        new IOException(
            address.getHost()
                + ":"
                + address.getPort()
                + " is lost: "
                + Servers.rootMessage(failure)));
  }
}
