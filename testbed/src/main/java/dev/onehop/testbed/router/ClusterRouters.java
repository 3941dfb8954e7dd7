package dev.onehop.testbed.router;

import com.mongodb.MongoClientSettings;
import com.mongodb.connection.TransportSettings;
import dev.onehop.routing.internal.handshake.ClientMetadata;
import dev.onehop.routing.internal.router.Losses;
import dev.onehop.routing.internal.router.MonitoredServers;
import dev.onehop.routing.internal.wire.Connections;
import dev.onehop.routing.internal.wire.EventLoops;
import dev.onehop.routing.internal.wire.ServerAddressName;
import dev.onehop.routing.internal.wire.WireSettings;
import io.netty.channel.EventLoopGroup;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.bson.BsonDocument;
import org.bson.BsonString;
import org.jspecify.annotations.Nullable;

/** Makes routers that are part of a cluster, without credentials and without TLS. */
final class ClusterRouters {
  private static final int HEARTBEAT_MILLIS = 2_000;

  private ClusterRouters() {}

  /**
   * A router for the cluster of a config server.
   *
   * @param configServer replica set name and members: {@code name/host:port,host:port}
   * @param group event loops for the connections; stays the caller's
   * @param localAddress the address to connect from, null for the system's choice
   * @param ways where to connect to for servers that are not to be reached by their own address
   */
  static MongosRouter of(
      String configServer,
      EventLoopGroup group,
      @Nullable SocketAddress localAddress,
      Map<ServerAddressName, InetSocketAddress> ways) {
    BsonDocument client =
        new BsonDocument(
                "driver",
                new BsonDocument("name", new BsonString("onehop-router"))
                    .append("version", new BsonString(ClientMetadata.version())))
            .append("os", new BsonDocument("type", new BsonString(System.getProperty("os.name"))));
    Connections connections =
        new Connections(group, WireSettings.plain(localAddress, client, ways));
    Losses losses = new Losses(connections);
    MongoClientSettings settings =
        MongoClientSettings.builder()
            .applyToServerSettings(
                server -> server.heartbeatFrequency(HEARTBEAT_MILLIS, TimeUnit.MILLISECONDS))
            .transportSettings(
                TransportSettings.nettyBuilder()
                    .eventLoopGroup(group)
                    .socketChannelClass(EventLoops.socketChannelClass())
                    .build())
            .build();
    return new MongosRouter(
        MonitoredServers.replicaSets(settings, null, losses).watch(configServer),
        MonitoredServers.replicaSets(settings, null, losses),
        connections);
  }
}
