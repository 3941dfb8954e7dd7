package dev.onehop.routing;

import static org.assertj.core.api.Assertions.assertThat;

import com.mongodb.client.model.Filters;
import com.mongodb.reactivestreams.client.MongoClient;
import com.mongodb.reactivestreams.client.MongoCollection;
import dev.onehop.shards.command.ScriptedCluster;
import dev.onehop.wire.ScriptedProxy;
import java.time.Duration;
import java.util.List;
import org.bson.Document;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import reactor.core.publisher.Mono;

/** The servers of a client are behind a SOCKS5 proxy. Only the proxy can resolve their names. */
class ProxiedClientTest {
  private static final Duration TIMEOUT = Duration.ofSeconds(20);
  private static final int WIRE_6_0 = 17;

  private final ScriptedCluster cluster = new ScriptedCluster(WIRE_6_0, this::name);

  private String name(String server) {
    return server + ".test.invalid:" + cluster.address(server).port();
  }

  private OneHop.Builder builder(RoutingMode mode, ScriptedProxy proxy) {
    String seed = mode == RoutingMode.DIRECT ? "config" : "m0";
    OneHop.Builder builder =
        OneHop.builder(
                "mongodb://"
                    + name(seed)
                    + "/?proxyHost=127.0.0.1&proxyUsername=me&proxyPassword=secret&proxyPort="
                    + proxy.port())
            .routing(mode);
    return mode == RoutingMode.DIRECT
        ? builder
        : builder.shardRouters("s0", name("m0")).shardRouters("s1", name("m1"));
  }

  private static String from(RoutingMode mode, int shard) {
    return (mode == RoutingMode.DIRECT ? "s" : "m") + shard;
  }

  private void assertAllRequested(RoutingMode mode, ScriptedProxy proxy) {
    List<String> servers =
        mode == RoutingMode.DIRECT ? List.of("config", "s0", "s1") : List.of("m0", "m1");
    assertThat(proxy.requested()).containsAll(servers.stream().map(this::name).toList());
  }

  @ParameterizedTest
  @EnumSource(names = {"TARGETED", "DIRECT"})
  void synchronousClientConnectsThroughProxy(RoutingMode mode) {
    try (cluster;
        ScriptedProxy proxy = new ScriptedProxy("me:secret", false);
        com.mongodb.client.MongoClient client =
            builder(mode, proxy).client(com.mongodb.client.MongoClient.class)) {
      com.mongodb.client.MongoCollection<Document> collection =
          client.getDatabase("it").getCollection("c");
      for (int i = 0; i < 3; i++) {
        assertThat(collection.find(Filters.eq(-1)).first())
            .isEqualTo(new Document("from", from(mode, 0)));
        assertThat(collection.find(Filters.eq(1)).first())
            .isEqualTo(new Document("from", from(mode, 1)));
      }
      assertAllRequested(mode, proxy);
    }
  }

  @ParameterizedTest
  @CsvSource({"DIRECT,false", "DIRECT,true", "TARGETED,false", "TARGETED,true"})
  void reactiveClientConnectsThroughProxy(RoutingMode mode, boolean pipelined) {
    try (cluster;
        ScriptedProxy proxy = new ScriptedProxy("me:secret", false);
        MongoClient client =
            (pipelined ? builder(mode, proxy).pipelining(sockets -> {}) : builder(mode, proxy))
                .client(MongoClient.class)) {
      MongoCollection<Document> collection = client.getDatabase("it").getCollection("c");

      assertThat(Mono.from(collection.find(Filters.eq(-1)).first()).block(TIMEOUT))
          .isEqualTo(new Document("from", from(mode, 0)));
      assertThat(Mono.from(collection.find(Filters.eq(1)).first()).block(TIMEOUT))
          .isEqualTo(new Document("from", from(mode, 1)));
      assertAllRequested(mode, proxy);
    }
  }
}
