package dev.onehop.it;

import com.mongodb.ConnectionString;
import com.mongodb.MongoClientSettings;
import com.mongodb.reactivestreams.client.MongoClient;
import com.mongodb.reactivestreams.client.MongoClients;
import dev.onehop.routing.setup.UnversionedRouter;
import dev.onehop.wire.channel.EventLoops;
import io.netty.channel.EventLoopGroup;
import java.util.concurrent.TimeUnit;

/**
 * A client in direct mode that sends no shard versions. A test uses it to show that such a client
 * loses data and reads wrong data. Otherwise it is like {@code
 * OneHop.builder(uri).routing(DIRECT).client(MongoClient.class)}.
 */
final class UnversionedClient implements AutoCloseable {
  private final EventLoopGroup group = EventLoops.newGroup("unversioned", 1);
  private final MongoClient client;

  UnversionedClient(String uri) {
    client =
        MongoClients.create(
            UnversionedRouter.settings(
                MongoClientSettings.builder()
                    .applyConnectionString(new ConnectionString(uri))
                    .build(),
                group));
  }

  MongoClient client() {
    return client;
  }

  @Override
  public void close() {
    client.close();
    group.shutdownGracefully(0, 1, TimeUnit.SECONDS);
  }
}
