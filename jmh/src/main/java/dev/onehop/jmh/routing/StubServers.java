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
 * A stubbed cluster without servers, which clients reach through {@link StubChannel}, with the
 * shards and chunks of {@link StubMetadata}.
 */
final class StubServers {
  /** Names all mongoses, so that plain and routed clients choose among the same number. */
  private static final String URI = "mongodb://h0,h1,h2";

  private static final byte[] LOOPBACK = {127, 0, 0, 1};
  private static final Duration RARELY = Duration.ofHours(1);

  private StubServers() {}

  /** Settings of a plain application whose client knows all mongoses. */
  static MongoClientSettings plain(EventLoopGroup group) {
    return MongoClientSettings.builder(asked()).transportSettings(transport(group)).build();
  }

  private static MongoClientSettings asked() {
    return MongoClientSettings.builder()
        .applyConnectionString(new ConnectionString(URI))
        .inetAddressResolver(host -> List.of(named(host)))
        // Heartbeats are rare, because their garbage would count as the operations'.
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

  /** A router of targeted mode in front of the cluster. */
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
          throw new IllegalStateException("nothing is routed");
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
