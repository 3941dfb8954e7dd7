package dev.onehop.wire.driver;

import com.mongodb.MongoClientSettings;
import dev.onehop.wire.connection.Connections;
import dev.onehop.wire.connection.WireSettings;

/**
 * The settings and connections with which OneHop reaches an application's servers.
 *
 * @param asked the application's settings
 * @param carrier the event loops of the connections
 * @param wire the settings of the connections
 * @param connections the pools
 * @param watching the settings of driver clients that monitor the servers
 * @param release stops everything that was started for the client; called when the client is closed
 */
public record Reach(
    MongoClientSettings asked,
    Carrier carrier,
    WireSettings wire,
    Connections connections,
    MongoClientSettings watching,
    Runnable release) {

  /**
   * Creates the pools, without opening a connection.
   *
   * @param release runs when the client is closed, and at once if the settings are invalid
   */
  public static Reach of(MongoClientSettings asked, Carrier carrier, Runnable release) {
    WireSettings wire = DriverSockets.of(asked, carrier, release);
    Connections connections = new Connections(carrier.group(), wire);
    if (wire.sockets().proxy() == null) {
      MongoClientSettings watching =
          MongoClientSettings.builder(asked).transportSettings(carrier.transport()).build();
      return new Reach(asked, carrier, wire, connections, watching, release);
    }
    ProxiedChannels channels = new ProxiedChannels(wire.sockets());
    return new Reach(
        asked,
        carrier,
        wire,
        connections,
        channels.applyTo(asked),
        () -> {
          channels.close();
          release.run();
        });
  }
}
