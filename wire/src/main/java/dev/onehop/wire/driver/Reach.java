package dev.onehop.wire.driver;

import com.mongodb.MongoClientSettings;
import dev.onehop.wire.connection.Connections;
import dev.onehop.wire.connection.WireSettings;

/**
 * How a client of ours reaches the servers of its application.
 *
 * @param asked settings of the application
 * @param wire what the connections are made of
 * @param watching the settings for clients of the driver's that watch the servers
 * @param release stops what was started for the client, once it is closed
 */
public record Reach(
    MongoClientSettings asked,
    Carrier carrier,
    WireSettings wire,
    Connections connections,
    MongoClientSettings watching,
    Runnable release) {

  /**
   * Opens no connection yet.
   *
   * @param release run at once, too, if the settings cannot be had
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
