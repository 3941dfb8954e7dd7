package dev.onehop.routing.internal.router;

import com.mongodb.MongoClientSettings;
import dev.onehop.wire.connection.Connections;
import dev.onehop.wire.connection.WireSettings;
import dev.onehop.wire.driver.Carrier;
import dev.onehop.wire.driver.DriverSockets;
import dev.onehop.wire.driver.ProxiedChannels;

/**
 * What a router of any mode stands on.
 *
 * @param asked settings of the application
 * @param wire what the connections are made of
 * @param watching the same for clients that watch servers
 * @param release stops what was started for the router, once it is closed
 */
public record Base(
    MongoClientSettings asked,
    Carrier carrier,
    WireSettings wire,
    Connections connections,
    MongoClientSettings watching,
    Runnable release) {

  /** Opens no connection yet. */
  public static Base of(MongoClientSettings asked, Carrier carrier, Runnable release) {
    WireSettings wire = DriverSockets.of(asked, carrier, release);
    ProxiedChannels.Watching watching =
        ProxiedChannels.watching(asked, wire.sockets(), carrier.transport());
    return new Base(
        asked,
        carrier,
        wire,
        new Connections(carrier.group(), wire),
        watching.settings(),
        () -> {
          watching.release().run();
          release.run();
        });
  }
}
