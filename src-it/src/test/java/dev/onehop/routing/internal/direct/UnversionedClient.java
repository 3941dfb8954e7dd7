package dev.onehop.routing.internal.direct;

import com.mongodb.ConnectionString;
import com.mongodb.MongoClientSettings;
import com.mongodb.connection.TransportSettings;
import com.mongodb.reactivestreams.client.MongoClient;
import com.mongodb.reactivestreams.client.MongoClients;
import dev.onehop.routing.internal.direct.shard.Versions;
import dev.onehop.routing.internal.metrics.TableMetrics;
import dev.onehop.routing.internal.router.CommandMeter;
import dev.onehop.routing.internal.router.DirectMode;
import dev.onehop.routing.internal.router.RouterClients;
import dev.onehop.routing.internal.wire.EventLoops;
import io.micrometer.core.instrument.composite.CompositeMeterRegistry;
import io.micrometer.observation.ObservationRegistry;
import io.netty.channel.EventLoopGroup;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/**
 * Direct mode without versions, which loses and misreads data: for the test that shows it. In this
 * package, since nobody else can have it.
 */
public final class UnversionedClient {
  private UnversionedClient() {}

  /** Like {@code OneHop.builder(uri).routing(DIRECT).reactiveClient()}, but for the versions. */
  public static MongoClient create(String uri) {
    EventLoopGroup group = EventLoops.newGroup("unversioned", 1);
    TransportSettings transport =
        TransportSettings.nettyBuilder()
            .eventLoopGroup(group)
            .socketChannelClass(EventLoops.socketChannelClass())
            .build();
    RouterClients router =
        DirectMode.create(
            MongoClientSettings.builder().applyConnectionString(new ConnectionString(uri)).build(),
            new RouterClients.Carrier(group, EventLoops.socketChannelClass(), 100, 2),
            transport,
            (seeds, watcher, pool, refreshes) ->
                new DirectRouter(seeds, watcher, pool, refreshes, Versions.OMITTED),
            new DirectMode.Options(
                Duration.ofSeconds(10),
                null,
                new TableMetrics(new CompositeMeterRegistry()),
                new CommandMeter(new CompositeMeterRegistry(), ObservationRegistry.NOOP)),
            () -> group.shutdownGracefully(0, 1, TimeUnit.SECONDS));
    return MongoClients.create(router.closing(router.reactiveSettings()));
  }
}
