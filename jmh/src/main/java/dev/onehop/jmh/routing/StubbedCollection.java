package dev.onehop.jmh.routing;

import com.mongodb.client.model.Filters;
import com.mongodb.reactivestreams.client.MongoClient;
import com.mongodb.reactivestreams.client.MongoClients;
import com.mongodb.reactivestreams.client.MongoCollection;
import io.netty.channel.EventLoopGroup;
import org.bson.Document;
import reactor.core.publisher.Mono;

/** A collection of a stubbed cluster, used through a plain, routed or metered client. */
final class StubbedCollection implements AutoCloseable {
  private final MongoClient client;
  private final MongoCollection<Document> documents;
  private final StubKeys keys = new StubKeys();

  /**
   * Opens the client, and waits until the router has all metadata.
   *
   * @param kind {@code plain}, {@code routed} or {@code metered}
   */
  StubbedCollection(String kind, EventLoopGroup group) {
    StubServers.Router router =
        kind.equals("plain") ? null : new StubServers.Router(group, kind.equals("metered"));
    client =
        MongoClients.create(
            router == null ? StubServers.plain(group) : router.routed().closingSettings());
    documents = client.getDatabase("ycsb").getCollection("usertable");
    // The first operation waits for the routing table. This operation also starts the search for
    // near mongoses.
    if (Mono.from(documents.find(Filters.eq("_id", key())).first()).block() == null) {
      throw new IllegalStateException("the first find has returned no document");
    }
    if (router != null) {
      router.awaitAffinity();
    }
  }

  MongoCollection<Document> documents() {
    return documents;
  }

  /** Returns a key of the next chunk. */
  String key() {
    return keys.next();
  }

  @Override
  public void close() {
    client.close();
  }
}
