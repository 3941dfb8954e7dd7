package dev.onehop.wire.watch;

import com.mongodb.MongoClientSettings;
import com.mongodb.MongoDriverInformation;
import java.util.List;

/**
 * The part of the application's settings that OneHop's own clients use: addresses, connections and
 * credentials. Not included are settings of the application's operations: listeners, tracing,
 * timeouts, codecs, concerns and encryption.
 */
public final class InternalSettings {
  /** The name that handshakes contain in addition to the driver's. */
  public static final MongoDriverInformation OURSELVES =
      MongoDriverInformation.builder().driverName("onehop").build();

  private InternalSettings() {}

  public static MongoClientSettings of(MongoClientSettings given) {
    MongoClientSettings.Builder own =
        MongoClientSettings.builder()
            .applyToClusterSettings(
                builder ->
                    builder
                        .applySettings(given.getClusterSettings())
                        .clusterListenerList(List.of()))
            .applyToServerSettings(
                builder ->
                    builder
                        .applySettings(given.getServerSettings())
                        .serverListenerList(List.of())
                        .serverMonitorListenerList(List.of()))
            .applyToConnectionPoolSettings(
                builder ->
                    builder
                        .applySettings(given.getConnectionPoolSettings())
                        .minSize(0)
                        .connectionPoolListenerList(List.of()))
            .applyToSocketSettings(builder -> builder.applySettings(given.getSocketSettings()))
            .applyToSslSettings(builder -> builder.applySettings(given.getSslSettings()))
            .applyToLoggerSettings(builder -> builder.applySettings(given.getLoggerSettings()))
            .retryReads(given.getRetryReads())
            .compressorList(given.getCompressorList());
    if (given.getCredential() != null) {
      own.credential(given.getCredential());
    }
    if (given.getApplicationName() != null) {
      own.applicationName(given.getApplicationName());
    }
    if (given.getServerApi() != null) {
      own.serverApi(given.getServerApi());
    }
    if (given.getTransportSettings() != null) {
      own.transportSettings(given.getTransportSettings());
    }
    return own.dnsClient(given.getDnsClient())
        .inetAddressResolver(given.getInetAddressResolver())
        .build();
  }
}
