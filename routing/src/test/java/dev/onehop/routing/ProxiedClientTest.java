package dev.onehop.routing;

import static org.assertj.core.api.Assertions.assertThat;

import com.mongodb.client.model.Filters;
import com.mongodb.reactivestreams.client.MongoClient;
import com.mongodb.reactivestreams.client.MongoCollection;
import dev.onehop.routing.internal.direct.ScriptedCluster;
import dev.onehop.routing.transport.ScriptedProxy;
import java.time.Duration;
import org.bson.Document;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Mono;

/**
 * A client of direct mode whose servers are behind a SOCKS5 proxy, which alone knows their names.
 */
class ProxiedClientTest {
  private static final Duration TIMEOUT = Duration.ofSeconds(20);
  private static final int WIRE_6_0 = 17;

  private final ScriptedCluster cluster = new ScriptedCluster(WIRE_6_0, this::name);

  private String name(String server) {
    return server + ".test.invalid:" + cluster.address(server).port();
  }

  private OneHop.Builder builder(ScriptedProxy proxy) {
    return OneHop.builder(
            "mongodb://"
                + name("config")
                + "/?proxyHost=127.0.0.1&proxyUsername=me&proxyPassword=secret&proxyPort="
                + proxy.port())
        .routing(RoutingMode.DIRECT);
  }

  @Test
  void theConnectionsOfSynchronousClientsDoToo() {
    try (cluster;
        ScriptedProxy proxy = new ScriptedProxy("me:secret", false);
        com.mongodb.client.MongoClient client = builder(proxy).syncClient()) {
      com.mongodb.client.MongoCollection<Document> collection =
          client.getDatabase("it").getCollection("c");
      for (int i = 0; i < 3; i++) {
        assertThat(collection.find(Filters.eq(-1)).first()).isEqualTo(new Document("from", "s0"));
        assertThat(collection.find(Filters.eq(1)).first()).isEqualTo(new Document("from", "s1"));
      }
      assertThat(proxy.asked()).contains(name("config"), name("s0"), name("s1"));
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void everyConnectionGoesThroughTheProxy(boolean pipelined) {
    try (cluster;
        ScriptedProxy proxy = new ScriptedProxy("me:secret", false);
        MongoClient client =
            (pipelined ? builder(proxy).pipelining(sockets -> {}) : builder(proxy))
                .reactiveClient()) {
      MongoCollection<Document> collection = client.getDatabase("it").getCollection("c");

      assertThat(Mono.from(collection.find(Filters.eq(-1)).first()).block(TIMEOUT))
          .isEqualTo(new Document("from", "s0"));
      assertThat(Mono.from(collection.find(Filters.eq(1)).first()).block(TIMEOUT))
          .isEqualTo(new Document("from", "s1"));
      assertThat(proxy.asked()).contains(name("config"), name("s0"), name("s1"));
    }
  }
}
