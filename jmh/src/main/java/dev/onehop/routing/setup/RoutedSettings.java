package dev.onehop.routing.setup;

import com.mongodb.MongoClientSettings;
import com.mongodb.connection.NettyTransportSettings;
import dev.onehop.routing.internal.affinity.ClusterWatch;
import dev.onehop.routing.internal.metrics.CommandMeter;
import dev.onehop.routing.internal.metrics.TableMetrics;
import dev.onehop.routing.internal.router.RouterClients;
import dev.onehop.routing.internal.targeted.TargetedMode;
import dev.onehop.wire.driver.Carrier;
import dev.onehop.wire.driver.Reach;
import dev.onehop.wire.watch.PreferredZones;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.observation.ObservationRegistry;
import io.netty.bootstrap.Bootstrap;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.socket.SocketChannel;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.function.IntConsumer;
import java.util.function.UnaryOperator;

/**
 * A router over event loops of the caller's, with settings that {@link dev.onehop.routing.OneHop}
 * does not offer.
 *
 * <p>Thread-safe.
 */
public final class RoutedSettings implements AutoCloseable {
  private final RouterClients clients;

  private RoutedSettings(RouterClients clients) {
    this.clients = clients;
  }

  /**
   * Targeted mode over channels of another kind, such as those of servers that are not there.
   *
   * @param settings of the application: the seeds are mongoses
   * @param group event loops of all connections; stays the caller's
   * @param channels of all connections; it fits the event loops and has a constructor without
   *     parameters
   * @param meters where the router's meters are registered
   * @param refreshInterval how often tables and mongoses are read again
   * @param shardsWithRouter gets the number of shards with a mongos beside them, each time it is
   *     read
   */
  public static RoutedSettings targeted(
      MongoClientSettings settings,
      EventLoopGroup group,
      Class<? extends SocketChannel> channels,
      MeterRegistry meters,
      Duration refreshInterval,
      IntConsumer shardsWithRouter) {
    return new RoutedSettings(
        TargetedMode.create(
            Reach.of(settings, new Carrier(group, channels, null), () -> {}),
            new TargetedMode.Options(
                new ClusterWatch.Settings(
                    refreshInterval, Duration.ZERO, true, Map.of(), UnaryOperator.identity()),
                PreferredZones.NONE,
                new TableMetrics(meters),
                affinity -> shardsWithRouter.accept(affinity.shardsWithRouter().size()),
                new CommandMeter(meters, ObservationRegistry.NOOP, "targeted"))));
  }

  /** The settings of a reactive client, which closes the router when it is closed. */
  public MongoClientSettings closingSettings() {
    return clients.closing(clients.reactiveSettings());
  }

  /** How a channel is made that leads to the router, wherever it connects to. */
  public Bootstrap channels() {
    NettyTransportSettings transport =
        (NettyTransportSettings)
            Objects.requireNonNull(clients.reactiveSettings().getTransportSettings());
    return new Bootstrap()
        .group(transport.getEventLoopGroup())
        .channel(transport.getSocketChannelClass());
  }

  /** Ends the router. Operations of clients that are still open fail. */
  @Override
  public void close() {
    clients.close();
  }
}
