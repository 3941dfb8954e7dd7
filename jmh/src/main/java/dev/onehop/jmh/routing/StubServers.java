package dev.onehop.jmh.routing;

import com.mongodb.ConnectionString;
import com.mongodb.MongoClientSettings;
import com.mongodb.connection.TransportSettings;
import dev.onehop.routing.setup.RoutedSettings;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.composite.CompositeMeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.netty.channel.EventLoopGroup;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * A stubbed cluster without servers. Clients reach it through {@link StubChannel}. {@link
 * StubMetadata} has its shards and chunks.
 */
final class StubServers {
  /**
   * Names all mongoses, so that plain and routed clients select from the same number of mongoses.
   */
  private static final String URI = "mongodb://h0,h1,h2";

  private static final byte[] LOOPBACK = {127, 0, 0, 1};
  private static final Duration RARELY = Duration.ofHours(1);

  private StubServers() {}

  /** Returns the settings of a client without a router, with all mongoses. */
  static MongoClientSettings plain(EventLoopGroup group) {
    return MongoClientSettings.builder(asked()).transportSettings(transport(group)).build();
  }

  private static MongoClientSettings asked() {
    return MongoClientSettings.builder()
        .applyConnectionString(new ConnectionString(URI))
        .inetAddressResolver(host -> List.of(named(host)))
        // Heartbeats are rare, because the bytes that they allocate count as bytes of the
        // operations.
        .applyToServerSettings(
            server -> server.heartbeatFrequency(RARELY.toHours(), TimeUnit.HOURS))
        .build();
  }

  private static TransportSettings transport(EventLoopGroup group) {
    return TransportSettings.nettyBuilder()
        .eventLoopGroup(group)
        .socketChannelClass(StubChannel.class)
        .build();
  }

  /** A router of targeted mode for the stubbed cluster. */
  static final class Router implements AutoCloseable {
    private final CountDownLatch known = new CountDownLatch(1);
    private final RoutedSettings routed;

    /**
     * @param metered whether the router records meters
     */
    Router(EventLoopGroup group, boolean metered) {
      MeterRegistry meters = metered ? new SimpleMeterRegistry() : new CompositeMeterRegistry();
      routed =
          RoutedSettings.targeted(
              asked(),
              group,
              StubChannel.class,
              meters,
              RARELY,
              shardsWithRouter -> {
                if (shardsWithRouter == StubMetadata.SHARDS) {
                  known.countDown();
                }
              });
    }

    RoutedSettings routed() {
      return routed;
    }

    /** Waits for the metadata that the first command has requested. */
    void awaitAffinity() {
      try {
        if (!known.await(10, TimeUnit.SECONDS)) {
          throw new IllegalStateException("the router has found no near mongos for the shards");
        }
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new IllegalStateException(e);
      }
    }

    @Override
    public void close() {
      routed.close();
    }
  }

  static InetAddress named(String host) {
    try {
      return InetAddress.getByAddress(host, LOOPBACK);
    } catch (UnknownHostException e) {
      throw new IllegalStateException(e);
    }
  }
}
