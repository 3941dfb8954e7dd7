package dev.onehop.routing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.mongodb.client.model.Filters;
import com.mongodb.reactivestreams.client.MongoClient;
import dev.onehop.shards.command.ScriptedCluster;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.util.List;
import org.bson.Document;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import reactor.core.publisher.Mono;

/**
 * An application uses many collections, each for a short time. The meters of collections that are
 * no longer used are removed.
 */
class ForgottenCollectionsTest {
  private static final Duration TIMEOUT = Duration.ofSeconds(60);
  private static final int COLLECTIONS = 20;
  private static final int WIRE_6_0 = 17;

  private final SimpleMeterRegistry meters = new SimpleMeterRegistry();
  private ScriptedCluster cluster;

  @BeforeEach
  void start() {
    cluster = new ScriptedCluster(WIRE_6_0);
  }

  @AfterEach
  void stop() {
    cluster.close();
  }

  @ParameterizedTest
  @EnumSource(names = {"TARGETED", "DIRECT"})
  void removesMetersOfUnusedCollections(RoutingMode mode) {
    try (MongoClient client =
        OneHop.builder("mongodb://" + cluster.address("m0") + "/")
            .routing(mode)
            .meterRegistry(meters)
            .refreshInterval(Duration.ofMillis(25))
            .client(MongoClient.class)) {
      for (int i = 0; i < COLLECTIONS; i++) {
        find(client, "c" + i);
      }
      assertThat(namespaceMeters()).hasSizeGreaterThanOrEqualTo(3 * COLLECTIONS);

      await()
          .atMost(TIMEOUT)
          .until(
              () -> {
                find(client, "c0");
                return namespaceMeters().stream()
                    .allMatch(meter -> "it.c0".equals(meter.getId().getTag("namespace")));
              });
      assertThat(namespaceMeters()).isNotEmpty();
    }
  }

  private List<Meter> namespaceMeters() {
    return meters.getMeters().stream()
        .filter(meter -> meter.getId().getTag("namespace") != null)
        .toList();
  }

  private static void find(MongoClient client, String collection) {
    Document found =
        Mono.from(client.getDatabase("it").getCollection(collection).find(Filters.eq(5)).first())
            .block(TIMEOUT);
    assertThat(found).isNotNull();
  }
}
