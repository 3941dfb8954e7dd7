package dev.onehop.wire.watch;

import com.mongodb.MongoClientSettings;
import com.mongodb.ServerAddress;
import com.mongodb.connection.ClusterConnectionMode;
import com.mongodb.connection.ClusterSettings;
import com.mongodb.connection.ServerSettings;
import com.mongodb.event.ServerListener;
import dev.onehop.wire.ServerAddressName;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Small clients of one server, with the {@linkplain InternalSettings settings} of our own. */
public final class SingleServer {
  /**
   * A member need not tell at once that it has heard of another primary, only with its next answer
   * to the monitor.
   */
  private static final long LONGEST_HEARTBEAT_MILLIS = 2_000;

  private SingleServer() {}

  /**
   * A client with one connection at the most, beside the driver's two for monitoring.
   *
   * @param listener gets what the monitor finds
   * @param selectionMillis how long its operations wait for the server
   */
  public static DriverClient connect(
      MongoClientSettings settings,
      ServerAddressName server,
      ServerListener listener,
      long selectionMillis) {
    ClusterSettings cluster =
        ClusterSettings.builder()
            .hosts(List.of(address(server)))
            .mode(ClusterConnectionMode.SINGLE)
            .serverSelectionTimeout(selectionMillis, TimeUnit.MILLISECONDS)
            .build();
    return DriverClient.connect(
        MongoClientSettings.builder(InternalSettings.of(settings))
            // If the client closes meanwhile, the driver completes a retry twice and logs an error.
            .retryReads(false)
            .applyToClusterSettings(builder -> builder.applySettings(cluster))
            .applyToServerSettings(
                builder ->
                    builder
                        .applySettings(soonHeard(settings.getServerSettings()))
                        .serverListenerList(List.of(listener))
                        .serverMonitorListenerList(List.of()))
            .applyToConnectionPoolSettings(builder -> builder.maxSize(1))
            .build());
  }

  /**
   * The settings for one server alone, which is watched with the listeners of all.
   *
   * @param replicaSet of which it must be a member; null for any server
   */
  static MongoClientSettings alone(
      MongoClientSettings all, ServerAddress server, @Nullable String replicaSet) {
    ClusterSettings one =
        ClusterSettings.builder()
            .hosts(List.of(server))
            .mode(ClusterConnectionMode.SINGLE)
            .requiredReplicaSetName(replicaSet)
            .clusterListenerList(all.getClusterSettings().getClusterListeners())
            .build();
    return MongoClientSettings.builder(all)
        .applyToClusterSettings(cluster -> cluster.applySettings(one))
        .build();
  }

  /** The same, but such that a server that comes back is noticed soon. */
  public static ServerSettings soonHeard(ServerSettings asked) {
    long millis =
        Math.max(
            asked.getMinHeartbeatFrequency(TimeUnit.MILLISECONDS),
            Math.min(asked.getHeartbeatFrequency(TimeUnit.MILLISECONDS), LONGEST_HEARTBEAT_MILLIS));
    return ServerSettings.builder(asked).heartbeatFrequency(millis, TimeUnit.MILLISECONDS).build();
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
