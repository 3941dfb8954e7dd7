package dev.onehop.wire.watch;

import com.mongodb.MongoClientSettings;
import com.mongodb.ServerAddress;
import com.mongodb.connection.ClusterConnectionMode;
import com.mongodb.connection.ClusterSettings;
import com.mongodb.connection.ServerSettings;
import dev.onehop.wire.ServerAddressName;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** How a client watches one server, and what the driver calls it. */
public final class SingleServer {
  /**
   * A member need not tell at once that it has heard of another primary, only with its next answer
   * to the monitor.
   */
  private static final long LONGEST_HEARTBEAT_MILLIS = 2_000;

  private SingleServer() {}

  /** The settings for one server alone, which is watched with the listeners of all. */
  static MongoClientSettings alone(MongoClientSettings all, ServerAddress server) {
    ClusterSettings asked = all.getClusterSettings();
    ClusterSettings one =
        ClusterSettings.builder()
            .hosts(List.of(server))
            .mode(ClusterConnectionMode.SINGLE)
            .requiredReplicaSetName(asked.getRequiredReplicaSetName())
            .clusterListenerList(asked.getClusterListeners())
            .build();
    return MongoClientSettings.builder(all)
        .applyToClusterSettings(cluster -> cluster.applySettings(one))
        .build();
  }

  /** The same settings, but such that a server that comes back is noticed soon. */
  public static MongoClientSettings soonHeard(MongoClientSettings asked) {
    ServerSettings server = asked.getServerSettings();
    long millis =
        Math.max(
            server.getMinHeartbeatFrequency(TimeUnit.MILLISECONDS),
            Math.min(
                server.getHeartbeatFrequency(TimeUnit.MILLISECONDS), LONGEST_HEARTBEAT_MILLIS));
    return MongoClientSettings.builder(asked)
        .applyToServerSettings(builder -> builder.heartbeatFrequency(millis, TimeUnit.MILLISECONDS))
        .build();
  }

  /** The driver's form of a name. */
  public static ServerAddress address(ServerAddressName name) {
    return new ServerAddress(name.host(), name.port());
  }

  /** The name of the driver's form. */
  public static ServerAddressName name(ServerAddress address) {
    return new ServerAddressName(address.getHost(), address.getPort());
  }
}
