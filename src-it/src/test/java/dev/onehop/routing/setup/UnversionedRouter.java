package dev.onehop.routing.setup;

import com.mongodb.MongoClientSettings;
import dev.onehop.routing.internal.direct.DirectMode;
import dev.onehop.routing.internal.metrics.CommandMeter;
import dev.onehop.routing.internal.metrics.TableMetrics;
import dev.onehop.routing.internal.router.RouterClients;
import dev.onehop.shards.cluster.Versions;
import dev.onehop.wire.channel.EventLoops;
import dev.onehop.wire.driver.Carrier;
import dev.onehop.wire.driver.Reach;
import dev.onehop.wire.watch.PreferredZones;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.composite.CompositeMeterRegistry;
import io.micrometer.observation.ObservationRegistry;
import io.netty.channel.EventLoopGroup;
import java.time.Duration;

/** Direct mode without shard versions, which {@link dev.onehop.routing.OneHop} does not offer. */
public final class UnversionedRouter {
  private UnversionedRouter() {}

  /**
   * The settings of a reactive client. When the client is closed, it closes the router.
   *
   * @param asked the application's settings. The seeds are mongoses or config servers
   * @param group the event loops of all connections, which the caller has to shut down
   */
  public static MongoClientSettings settings(MongoClientSettings asked, EventLoopGroup group) {
    MeterRegistry meters = new CompositeMeterRegistry();
    RouterClients clients =
        DirectMode.create(
            Reach.of(asked, new Carrier(group, EventLoops.socketChannelClass(), null), () -> {}),
            Versions.OMITTED,
            new DirectMode.Options(
                Duration.ofSeconds(10),
                null,
                PreferredZones.NONE,
                new TableMetrics(meters),
                CommandMeter.direct(meters, ObservationRegistry.NOOP)));
    return clients.closing(clients.reactiveSettings());
  }
}
