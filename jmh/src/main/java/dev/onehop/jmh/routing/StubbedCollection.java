package dev.onehop.jmh.routing;

import com.mongodb.MongoClientSettings;
import com.mongodb.client.model.Filters;
import com.mongodb.reactivestreams.client.MongoClient;
import com.mongodb.reactivestreams.client.MongoCollection;
import dev.onehop.routing.internal.affinity.Connector;
import dev.onehop.routing.internal.client.RoutedMongoClient;
import dev.onehop.routing.internal.client.RoutingSettings;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.composite.CompositeMeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.observation.ObservationRegistry;
import java.time.Duration;
import java.util.Map;
import java.util.function.UnaryOperator;
import org.bson.Document;
import reactor.core.publisher.Mono;

/** A collection of a stubbed cluster, through a plain client, a routed one, or a metered one. */
final class StubbedCollection implements AutoCloseable {
  private static final Duration RARELY = Duration.ofHours(1);

  private final MongoClient client;
  private final MongoCollection<Document> documents;
  private final String[] keys = new String[StubMetadata.CHUNKS];
  private int next;

  /**
   * Opens the client, and waits until all is known that routing needs.
   *
   * @param kind {@code plain}, {@code routed} or {@code metered}
   * @param connector makes plain clients
   */
  StubbedCollection(String kind, MongoClientSettings settings, Connector connector) {
    client =
        kind.equals("plain")
            ? connector.connect(settings)
            : routed(kind.equals("metered"), settings, connector);
    documents = client.getDatabase("ycsb").getCollection("usertable");
    for (int i = 0; i < keys.length; i++) {
      keys[i] = StubMetadata.key(i) + "x";
    }
    // The first operation waits for the mongoses and the routing table.
    Document found = Mono.from(documents.find(Filters.eq("_id", key())).first()).block();
    if (found == null
        || (client instanceof RoutedMongoClient here
            && here.affinity().shardsWithRouter().size() < StubMetadata.SHARDS)) {
      throw new IllegalStateException("nothing is routed");
    }
  }

  private static MongoClient routed(
      boolean metered, MongoClientSettings settings, Connector connector) {
    MeterRegistry meters = metered ? new SimpleMeterRegistry() : new CompositeMeterRegistry();
    return RoutedMongoClient.create(
        settings,
        new RoutingSettings(
            RARELY,
            Duration.ZERO,
            true,
            Map.of(),
            false,
            UnaryOperator.identity(),
            meters,
            ObservationRegistry.NOOP),
        connector,
        () -> {});
  }

  MongoCollection<Document> documents() {
    return documents;
  }

  /** A key of the next chunk. */
  String key() {
    next = next + 1 == keys.length ? 0 : next + 1;
    return keys[next];
  }

  @Override
  public void close() {
    client.close();
  }
}
