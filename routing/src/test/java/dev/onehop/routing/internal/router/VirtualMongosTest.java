package dev.onehop.routing.internal.router;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.mongodb.reactivestreams.client.MongoClient;
import dev.onehop.routing.OneHop;
import dev.onehop.routing.RoutingMode;
import dev.onehop.shards.command.ScriptedCluster;
import java.time.Duration;
import org.bson.Document;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

class VirtualMongosTest {
  private static final int WIRE_6_0 = 17;

  @Test
  void removesClosedClient() {
    int before = VirtualMongos.clients();
    try (ScriptedCluster cluster = new ScriptedCluster(WIRE_6_0)) {
      MongoClient client =
          OneHop.builder("mongodb://" + cluster.address("config") + "/")
              .routing(RoutingMode.DIRECT)
              .client(MongoClient.class);
      Mono.from(client.getDatabase("it").runCommand(new Document("ping", 1)))
          .block(Duration.ofSeconds(20));
      assertThat(VirtualMongos.clients()).isEqualTo(before + 1);

      client.close();
      // The driver calls its listeners in the background.
      await().untilAsserted(() -> assertThat(VirtualMongos.clients()).isEqualTo(before));
    }
  }
}
