package dev.onehop.jmh.routing;

import com.mongodb.ConnectionString;
import com.mongodb.MongoClientSettings;
import com.mongodb.connection.TransportSettings;
import io.netty.channel.EventLoopGroup;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * A cluster that is not there, as the official driver sees it through {@link StubChannel}, with the
 * shards and chunks of {@link StubMetadata}.
 */
final class StubServers {
  /** With all mongoses, so that plain clients and routed ones choose among as many. */
  private static final String URI = "mongodb://h0,h1,h2";

  private static final byte[] LOOPBACK = {127, 0, 0, 1};

  private StubServers() {}

  /** Settings of an application, whose client knows all mongoses. */
  static MongoClientSettings settings(EventLoopGroup group) {
    return MongoClientSettings.builder()
        .applyConnectionString(new ConnectionString(URI))
        .inetAddressResolver(host -> List.of(named(host)))
        // Rarely, as it would be counted as the operations' garbage.
        .applyToServerSettings(server -> server.heartbeatFrequency(1, TimeUnit.HOURS))
        .transportSettings(
            TransportSettings.nettyBuilder()
                .eventLoopGroup(group)
                .socketChannelClass(StubChannel.class)
                .build())
        .build();
  }

  private static InetAddress named(String host) {
    try {
      return InetAddress.getByAddress(host, LOOPBACK);
    } catch (UnknownHostException e) {
      throw new IllegalStateException(e);
    }
  }
}
