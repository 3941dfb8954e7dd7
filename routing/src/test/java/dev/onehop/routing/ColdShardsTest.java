package dev.onehop.routing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.mongodb.ServerAddress;
import com.mongodb.client.model.Filters;
import com.mongodb.event.ServerHeartbeatFailedEvent;
import com.mongodb.event.ServerMonitorListener;
import com.mongodb.reactivestreams.client.MongoClient;
import com.mongodb.reactivestreams.client.MongoCollection;
import dev.onehop.shards.command.ScriptedCluster;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import org.bson.Document;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

/** Shards start after the client. Direct mode finds them without a wait for the next heartbeat. */
class ColdShardsTest {
  private static final Duration TIMEOUT = Duration.ofSeconds(20);
  private static final int WIRE_6_0 = 17;

  private final Set<ServerAddress> unreachable = ConcurrentHashMap.newKeySet();
  private ScriptedCluster cluster;

  @BeforeEach
  void start() {
    cluster = new ScriptedCluster(WIRE_6_0);
  }

  @AfterEach
  void stop() {
    cluster.close();
  }

  /** Heartbeats are so rare that an operation would time out if it waited for the next one. */
  private OneHop.Builder builder() {
    return OneHop.builder(
            "mongodb://"
                + cluster.address("config")
                + "/?heartbeatFrequencyMS=600000&serverSelectionTimeoutMS=15000")
        .routing(RoutingMode.DIRECT)
        .applyToClientSettings(
            settings ->
                settings.applyToServerSettings(
                    server ->
                        server.addServerMonitorListener(
                            new ServerMonitorListener() {
                              @Override
                              public void serverHeartbeatFailed(ServerHeartbeatFailedEvent event) {
                                unreachable.add(event.getConnectionId().getServerId().getAddress());
                              }
                            })));
  }

  private static MongoCollection<Document> collection(MongoClient client) {
    return client.getDatabase("it").getCollection("c");
  }

  private void awaitUnreachable(String server) {
    ServerAddress address = new ServerAddress(cluster.address(server).toString());
    await().atMost(TIMEOUT).until(() -> unreachable.contains(address));
  }

  private static void assertFound(CompletableFuture<Document> found, String from) {
    assertThat(found).succeedsWithin(TIMEOUT).isEqualTo(new Document("from", from));
  }

  @Tag("newer-driver")
  @Test
  void findsLateShardAtOnce() {
    cluster.stop("s0");
    try (MongoClient client = builder().client(MongoClient.class)) {
      CompletableFuture<Document> found =
          Mono.from(collection(client).find(Filters.eq(-1)).first()).toFuture();
      awaitUnreachable("s0");
      cluster.start("s0");
      assertFound(found, "s0");
    }
  }

  @Tag("newer-driver")
  @Test
  void findsLateShardWithMappedNameAtOnce() {
    ScriptedCluster inside = new ScriptedCluster(WIRE_6_0, name -> name + ".inside.invalid:27018");
    cluster.close();
    cluster = inside;
    inside.stop("s0");
    try (MongoClient client =
        builder()
            .hostMapping(
                Map.of(
                    "config.inside.invalid:27018", inside.address("config").toString(),
                    "s0.inside.invalid:27018", inside.address("s0").toString(),
                    "s1.inside.invalid:27018", inside.address("s1").toString()))
            .client(MongoClient.class)) {
      CompletableFuture<Document> found =
          Mono.from(collection(client).find(Filters.eq(-1)).first()).toFuture();
      awaitUnreachable("s0");
      inside.start("s0");
      assertFound(found, "s0");
    }
  }
}
