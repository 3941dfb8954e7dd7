package dev.onehop.routing.internal.client;

import static org.assertj.core.api.Assertions.assertThat;

import com.mongodb.AutoEncryptionSettings;
import com.mongodb.ConnectionString;
import com.mongodb.MongoClientSettings;
import com.mongodb.ServerApi;
import com.mongodb.ServerApiVersion;
import com.mongodb.client.model.Filters;
import com.mongodb.event.CommandListener;
import com.mongodb.reactivestreams.client.MongoClient;
import com.mongodb.reactivestreams.client.MongoClients;
import dev.onehop.routing.internal.direct.ScriptedCluster;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.observation.ObservationRegistry;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

/** What the clients of our own take from the application's settings. */
class InternalClientsTest {
  private final List<MongoClientSettings> made = Collections.synchronizedList(new ArrayList<>());

  @Test
  void takeHowServersAreReachedAndNothingThatIsForTheApplicationsOperations() {
    CommandListener listener = new CommandListener() {};
    try (ScriptedCluster cluster = new ScriptedCluster(17)) {
      MongoClientSettings asked =
          MongoClientSettings.builder()
              .applyConnectionString(new ConnectionString("mongodb://" + cluster.address("m0")))
              .applicationName("orders")
              .serverApi(ServerApi.builder().version(ServerApiVersion.V1).build())
              .addCommandListener(listener)
              .timeout(7, TimeUnit.SECONDS)
              .autoEncryptionSettings(
                  AutoEncryptionSettings.builder()
                      .keyVaultNamespace("keys.vault")
                      .kmsProviders(Map.of("local", Map.of("key", new byte[96])))
                      .build())
              .build();
      try (MongoClient client =
          RoutedMongoClient.create(
              asked,
              new RoutingSettings(
                  Duration.ofHours(1),
                  Duration.ZERO,
                  true,
                  Map.of(
                      "s0", List.of(cluster.address("m0")), "s1", List.of(cluster.address("m1"))),
                  false,
                  UnaryOperator.identity(),
                  new SimpleMeterRegistry(),
                  ObservationRegistry.NOOP),
              this::connect,
              () -> {})) {
        Mono.from(client.getDatabase("it").getCollection("c").find(Filters.eq(5)).first())
            .block(Duration.ofSeconds(20));
      }
      List<MongoClientSettings> own =
          made.stream().filter(each -> each.getAutoEncryptionSettings() == null).toList();
      // For the application's operations are the nearest mongos, beside s0, and the one beside s1.
      assertThat(made).hasSize(own.size() + 2);
      assertThat(own)
          .anyMatch(each -> each.getClusterSettings().getHosts().size() == 1)
          .allSatisfy(
              each -> {
                assertThat(each.getCommandListeners()).doesNotContain(listener).hasSizeLessThan(2);
                assertThat(each.getTimeout(TimeUnit.MILLISECONDS)).isNull();
                assertThat(each.getApplicationName()).isEqualTo("orders");
                assertThat(each.getServerApi()).isEqualTo(asked.getServerApi());
              });
    }
  }

  /** Without encryption, for which a native library is needed. */
  private MongoClient connect(MongoClientSettings settings) {
    made.add(settings);
    return MongoClients.create(
        MongoClientSettings.builder(settings).autoEncryptionSettings(null).build());
  }
}
