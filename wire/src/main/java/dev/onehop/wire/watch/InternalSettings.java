package dev.onehop.wire.watch;

import com.mongodb.MongoClientSettings;
import com.mongodb.MongoDriverInformation;
import java.util.List;

/**
 * What clients of our own take from the application's settings: how servers are reached and how the
 * user is known there. What is for the application's operations stays with these: its listeners and
 * tracing, its time limits, codecs, concerns and encryption.
 */
public final class InternalSettings {
  /** What a handshake names beside the driver. */
  public static final MongoDriverInformation OURSELVES =
      MongoDriverInformation.builder().driverName("onehop").build();

  private InternalSettings() {}

  public static MongoClientSettings of(MongoClientSettings asked) {
    MongoClientSettings.Builder own =
        MongoClientSettings.builder()
            .applyToClusterSettings(
                builder ->
                    builder
                        .applySettings(asked.getClusterSettings())
                        .clusterListenerList(List.of()))
            .applyToServerSettings(
                builder ->
                    builder
                        .applySettings(asked.getServerSettings())
                        .serverListenerList(List.of())
                        .serverMonitorListenerList(List.of()))
            .applyToConnectionPoolSettings(
                builder ->
                    builder
                        .applySettings(asked.getConnectionPoolSettings())
                        .minSize(0)
                        .connectionPoolListenerList(List.of()))
            .applyToSocketSettings(builder -> builder.applySettings(asked.getSocketSettings()))
            .applyToSslSettings(builder -> builder.applySettings(asked.getSslSettings()))
            .applyToLoggerSettings(builder -> builder.applySettings(asked.getLoggerSettings()))
            .retryReads(asked.getRetryReads())
            .compressorList(asked.getCompressorList());
    if (asked.getCredential() != null) {
      own.credential(asked.getCredential());
    }
    if (asked.getApplicationName() != null) {
      own.applicationName(asked.getApplicationName());
    }
    if (asked.getServerApi() != null) {
      own.serverApi(asked.getServerApi());
    }
    if (asked.getTransportSettings() != null) {
      own.transportSettings(asked.getTransportSettings());
    }
    return own.dnsClient(asked.getDnsClient())
        .inetAddressResolver(asked.getInetAddressResolver())
        .build();
  }
}
