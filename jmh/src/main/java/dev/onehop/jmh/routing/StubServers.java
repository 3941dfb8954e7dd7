package dev.onehop.jmh.routing;

import com.mongodb.ConnectionString;
import com.mongodb.MongoClientSettings;
import com.mongodb.connection.TransportSettings;
import com.mongodb.reactivestreams.client.MongoClients;
import dev.onehop.routing.RoutingMode;
import dev.onehop.routing.internal.affinity.ClusterWatch;
import dev.onehop.routing.internal.metrics.TableMetrics;
import dev.onehop.routing.internal.router.CommandMeter;
import dev.onehop.routing.internal.router.RouterClients;
import dev.onehop.routing.internal.targeted.TargetedMode;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.composite.CompositeMeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.observation.ObservationRegistry;
import io.netty.channel.EventLoopGroup;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;

/**
 * A cluster that is not there, as clients see it through {@link StubChannel}, with the shards and
 * chunks of {@link StubMetadata}.
 */
final class StubServers {
  /** With all mongoses, so that plain clients and routed ones choose among as many. */
  private static final String URI = "mongodb://h0,h1,h2";

  private static final byte[] LOOPBACK = {127, 0, 0, 1};
  private static final Duration RARELY = Duration.ofHours(1);
  private static final int CONNECTIONS = 100;

  private StubServers() {}

  /** Settings of an application, whose client knows all mongoses. */
  static MongoClientSettings plain(EventLoopGroup group) {
    return MongoClientSettings.builder(asked()).transportSettings(transport(group)).build();
  }

  private static MongoClientSettings asked() {
    return MongoClientSettings.builder()
        .applyConnectionString(new ConnectionString(URI))
        .inetAddressResolver(host -> List.of(named(host)))
        // Rarely, as it would be counted as the operations' garbage.
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

  /** A router of targeted mode before the cluster. */
  static final class Router implements AutoCloseable {
    private final CountDownLatch known = new CountDownLatch(1);
    private final RouterClients clients;

    /**
     * @param metered whether it has meters
     */
    Router(EventLoopGroup group, boolean metered) {
      MeterRegistry meters = metered ? new SimpleMeterRegistry() : new CompositeMeterRegistry();
      clients =
          TargetedMode.create(
              asked(),
              new RouterClients.Carrier(group, StubChannel.class, CONNECTIONS, 0),
              transport(group),
              MongoClients::create,
              new TargetedMode.Options(
                  new ClusterWatch.Settings(
                      RARELY, Duration.ZERO, true, Map.of(), UnaryOperator.identity()),
                  new TableMetrics(meters),
                  affinity -> {
                    if (affinity.shardsWithRouter().size() == StubMetadata.SHARDS) {
                      known.countDown();
                    }
                  },
                  new CommandMeter(meters, ObservationRegistry.NOOP, RoutingMode.TARGETED)),
              () -> {});
    }

    RouterClients clients() {
      return clients;
    }

    /** Waits for what the first command has begun to read. */
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
      clients.close();
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
