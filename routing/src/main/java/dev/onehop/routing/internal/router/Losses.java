package dev.onehop.routing.internal.router;

import com.mongodb.MongoSocketReadTimeoutException;
import com.mongodb.ServerAddress;
import com.mongodb.connection.ServerDescription;
import com.mongodb.event.ServerDescriptionChangedEvent;
import com.mongodb.event.ServerListener;
import dev.onehop.routing.internal.wire.Connections;
import dev.onehop.routing.internal.wire.ServerAddressName;
import java.io.IOException;

/**
 * Resets the connections to a server that the driver's monitor has lost. As the driver does with
 * its own: requests that are under way fail if the server says nothing any more; otherwise they may
 * still be answered. Source: the drivers' specification "Server Discovery and Monitoring".
 *
 * <p>Thread-safe.
 */
public final class Losses implements ServerListener {
  private final Connections connections;

  public Losses(Connections connections) {
    this.connections = connections;
  }

  @Override
  public void serverDescriptionChanged(ServerDescriptionChangedEvent event) {
    ServerDescription now = event.getNewDescription();
    Throwable failure = now.getException();
    if (!now.isOk() && failure != null) {
      ServerAddress address = now.getAddress();
      connections.reset(
          new ServerAddressName(address.getHost(), address.getPort()),
          failure instanceof MongoSocketReadTimeoutException,
          new IOException(address + " is lost: " + MonitoredServers.rootMessage(failure)));
    }
  }
}
