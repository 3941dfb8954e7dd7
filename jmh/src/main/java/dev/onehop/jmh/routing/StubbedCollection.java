package dev.onehop.jmh.routing;

import com.mongodb.client.model.Filters;
import com.mongodb.reactivestreams.client.MongoClient;
import com.mongodb.reactivestreams.client.MongoClients;
import com.mongodb.reactivestreams.client.MongoCollection;
import dev.onehop.routing.internal.router.RouterClients;
import io.netty.channel.EventLoopGroup;
import org.bson.Document;
import reactor.core.publisher.Mono;

/** A collection of a stubbed cluster, through a plain client, a routed one, or a metered one. */
final class StubbedCollection implements AutoCloseable {
  private final MongoClient client;
  private final MongoCollection<Document> documents;
  private final StubKeys keys = new StubKeys();

  /**
   * Opens the client, and waits until all is known that routing needs.
   *
   * @param kind {@code plain}, {@code routed} or {@code metered}
   */
  StubbedCollection(String kind, EventLoopGroup group) {
    if (kind.equals("plain")) {
      client = MongoClients.create(StubServers.plain(group));
    } else {
      RouterClients router = StubServers.router(group, kind.equals("metered"));
      client = MongoClients.create(router.closing(router.reactiveSettings()));
    }
    documents = client.getDatabase("ycsb").getCollection("usertable");
    // The first operation waits for the routing table.
    if (Mono.from(documents.find(Filters.eq("_id", key())).first()).block() == null) {
      throw new IllegalStateException("nothing is found");
    }
  }

  MongoCollection<Document> documents() {
    return documents;
  }

  /** A key of the next chunk. */
  String key() {
    return keys.next();
  }

  @Override
  public void close() {
    client.close();
  }
}
