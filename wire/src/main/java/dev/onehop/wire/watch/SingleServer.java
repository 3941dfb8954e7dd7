package dev.onehop.wire.watch;

import com.mongodb.MongoClientSettings;
import com.mongodb.ServerAddress;
import com.mongodb.connection.ClusterConnectionMode;
import com.mongodb.connection.ClusterSettings;
import com.mongodb.connection.ServerSettings;
import dev.onehop.wire.ServerAddressName;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** The settings to watch a single server, and conversions of server names. */
public final class SingleServer {
  /**
   * The longest heartbeat interval. A member may report a new primary only with its next heartbeat,
   * so the interval limits this delay.
   */
  private static final long LONGEST_HEARTBEAT_MILLIS = 2_000;

  private SingleServer() {}

  /** The settings for a single server, with the listeners of the cluster. */
  static MongoClientSettings alone(MongoClientSettings all, ServerAddress server) {
    ClusterSettings given = all.getClusterSettings();
    ClusterSettings one =
        ClusterSettings.builder()
            .hosts(List.of(server))
            .mode(ClusterConnectionMode.SINGLE)
            .requiredReplicaSetName(given.getRequiredReplicaSetName())
            .clusterListenerList(given.getClusterListeners())
            .build();
    return MongoClientSettings.builder(all)
        .applyToClusterSettings(cluster -> cluster.applySettings(one))
        .build();
  }

  /** The settings with frequent heartbeats, which soon notice a server that returns. */
  public static MongoClientSettings soonHeard(MongoClientSettings given) {
    ServerSettings server = given.getServerSettings();
    long millis =
        Math.max(
            server.getMinHeartbeatFrequency(TimeUnit.MILLISECONDS),
            Math.min(
                server.getHeartbeatFrequency(TimeUnit.MILLISECONDS), LONGEST_HEARTBEAT_MILLIS));
    return MongoClientSettings.builder(given)
        .applyToServerSettings(builder -> builder.heartbeatFrequency(millis, TimeUnit.MILLISECONDS))
        .build();
  }

  /** Converts a name to the driver's type. */
  public static ServerAddress address(ServerAddressName name) {
    return new ServerAddress(name.host(), name.port());
  }

  /** Converts the driver's type to a name. */
  public static ServerAddressName name(ServerAddress address) {
    return new ServerAddressName(address.getHost(), address.getPort());
  }
}
