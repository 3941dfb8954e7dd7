package dev.onehop.testbed.standin;

import com.mongodb.MongoClientSettings;
import dev.onehop.shards.catalog.RoutingCatalog;
import dev.onehop.shards.cluster.Versions;
import dev.onehop.shards.command.ClusterState;
import dev.onehop.shards.command.Refreshes;
import dev.onehop.wire.ServerAddressName;
import dev.onehop.wire.connection.Connections;
import dev.onehop.wire.connection.WireSettings;
import dev.onehop.wire.driver.Carrier;
import dev.onehop.wire.handshake.ClientMetadata;
import dev.onehop.wire.watch.PreferredZones;
import dev.onehop.wire.watch.Servers;
import io.netty.channel.EventLoopGroup;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.bson.BsonDocument;
import org.bson.BsonString;
import org.jspecify.annotations.Nullable;

/** Connects the routers of a cluster, without credentials and without TLS. */
final class ClusterAccess {
  private static final int HEARTBEAT_MILLIS = 2_000;

  private ClusterAccess() {}

  /**
   * Connects to the cluster of a config server in the background.
   *
   * @param configServer replica set name and members: {@code name/host:port,host:port}
   * @param group event loops for the connections; the caller closes it
   * @param driver the driver's name in the handshake
   * @param localAddress the address to connect from; null for the system's choice
   * @param ways addresses to use in place of the advertised addresses, by server
   * @param refreshInterval the interval between refreshes of the shards and the default concerns
   */
  static ClusterState connect(
      String configServer,
      EventLoopGroup group,
      String driver,
      @Nullable SocketAddress localAddress,
      Map<ServerAddressName, InetSocketAddress> ways,
      Duration refreshInterval) {
    BsonDocument client =
        new BsonDocument(
                "driver",
                new BsonDocument("name", new BsonString(driver))
                    .append("version", new BsonString(ClientMetadata.version())))
            .append("os", new BsonDocument("type", new BsonString(System.getProperty("os.name"))));
    Connections connections =
        new Connections(group, WireSettings.plain(localAddress, client, ways));
    MongoClientSettings settings =
        MongoClientSettings.builder()
            .applyToServerSettings(
                server -> server.heartbeatFrequency(HEARTBEAT_MILLIS, TimeUnit.MILLISECONDS))
            .transportSettings(new Carrier(group, null).transport())
            .build();
    return new ClusterState(
        Servers.replicaSets(settings, null, PreferredZones.NONE, connections).watch(configServer),
        Servers.replicaSets(settings, null, PreferredZones.NONE, connections),
        connections,
        new Refreshes(refreshInterval, RoutingCatalog.RefreshListener.NONE),
        Versions.ATTACHED,
        null,
        false);
  }
}
