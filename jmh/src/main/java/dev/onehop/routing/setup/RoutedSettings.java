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
 * A router that runs on event loops of the caller and has settings that {@link
 * dev.onehop.routing.OneHop} does not offer.
 *
 * <p>Thread-safe.
 */
public final class RoutedSettings implements AutoCloseable {
  private final RouterClients clients;

  private RoutedSettings(RouterClients clients) {
    this.clients = clients;
  }

  /**
   * Creates a router of targeted mode with another class of channels, such as channels to stubbed
   * servers.
   *
   * @param settings the settings of the application, with mongoses as seeds
   * @param group the event loops of all connections; the caller closes them
   * @param channels the class of all channels; it must fit the event loops and have a constructor
   *     without parameters
   * @param meters the registry for the router's meters
   * @param refreshInterval the interval between refreshes of tables and mongoses
   * @param shardsWithRouter receives the number of shards with a near mongos after each refresh
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

  /** Returns the settings of a reactive client. The router closes when this client closes. */
  public MongoClientSettings closingSettings() {
    return clients.closing(clients.reactiveSettings());
  }

  /**
   * Returns the bootstrap of a channel to the router. The channel ignores the address to connect
   * to.
   */
  public Bootstrap channels() {
    NettyTransportSettings transport =
        (NettyTransportSettings)
            Objects.requireNonNull(clients.reactiveSettings().getTransportSettings());
    return new Bootstrap()
        .group(transport.getEventLoopGroup())
        .channel(transport.getSocketChannelClass());
  }

  /** Closes the router. Operations of clients that are still open fail. */
  @Override
  public void close() {
    clients.close();
  }
}
