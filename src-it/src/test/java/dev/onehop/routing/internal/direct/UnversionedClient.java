package dev.onehop.routing.internal.direct;

import com.mongodb.ConnectionString;
import com.mongodb.MongoClientSettings;
import com.mongodb.connection.TransportSettings;
import com.mongodb.reactivestreams.client.MongoClient;
import dev.onehop.routing.internal.catalog.RoutingCatalog;
import dev.onehop.routing.internal.direct.shard.Versions;
import dev.onehop.routing.internal.router.DirectClient;
import dev.onehop.routing.internal.wire.EventLoops;
import io.netty.channel.EventLoopGroup;
import java.util.concurrent.TimeUnit;

/**
 * Direct mode without versions, which loses and misreads data: for the test that shows it. In this
 * package, since nobody else can have it.
 */
public final class UnversionedClient {
  private UnversionedClient() {}

  /** Like {@code OneHop.builder(uri).routing(DIRECT).build()}, but for the versions. */
  public static MongoClient create(String uri) {
    EventLoopGroup group = EventLoops.newGroup("unversioned", 1);
    TransportSettings transport =
        TransportSettings.nettyBuilder()
            .eventLoopGroup(group)
            .socketChannelClass(EventLoops.socketChannelClass())
            .build();
    return DirectClient.create(
        MongoClientSettings.builder().applyConnectionString(new ConnectionString(uri)).build(),
        new DirectClient.Carrier(group, EventLoops.socketChannelClass(), 100),
        transport,
        (seeds, watcher, pool, listener) ->
            new DirectRouter(seeds, watcher, pool, listener, Versions.OMITTED),
        RoutingCatalog.RefreshListener.NONE,
        () -> group.shutdownGracefully(0, 1, TimeUnit.SECONDS));
  }
}
