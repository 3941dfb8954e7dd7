package dev.onehop.routing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.mongodb.client.model.Filters;
import com.mongodb.event.CommandListener;
import com.mongodb.reactivestreams.client.MongoClient;
import dev.onehop.shards.command.ScriptedCluster;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.observation.ObservationRegistry;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import reactor.core.publisher.Mono;

/** The objects of a closed client become garbage, even while its registries are still in use. */
class ClosedClientsTest {
  private static final Duration TIMEOUT = Duration.ofSeconds(30);

  private final ScriptedCluster cluster = new ScriptedCluster(17);
  private final MeterRegistry meters = new SimpleMeterRegistry();
  private final ObservationRegistry observations = ObservationRegistry.create();

  @AfterEach
  void close() {
    cluster.close();
  }

  private static Map<String, Consumer<OneHop.Builder>> kinds() {
    return Map.of(
        "targeted", builder -> {},
        "targeted, pipelined", builder -> builder.pipelining(sockets -> {}),
        "direct", builder -> builder.routing(RoutingMode.DIRECT),
        "direct, pipelined",
            builder -> builder.routing(RoutingMode.DIRECT).pipelining(sockets -> {}));
  }

  static Stream<String> clients() {
    return kinds().keySet().stream().sorted();
  }

  @ParameterizedTest
  @MethodSource("clients")
  void closedClientsAreGarbageCollected(String kind) {
    List<WeakReference<?>> closed = openedAndClosed(kinds().get(kind));

    await()
        .atMost(TIMEOUT)
        .untilAsserted(
            () -> {
              System.gc();
              assertThat(closed).extracting(WeakReference::get).containsOnlyNulls();
            });
    assertThat(meters.getMeters()).isNotEmpty();
  }

  /** The objects of a client that the application has created or received. */
  private List<WeakReference<?>> openedAndClosed(Consumer<OneHop.Builder> kind) {
    CommandListener listener = new CommandListener() {};
    OneHop.Builder builder =
        OneHop.builder("mongodb://" + cluster.address("m0") + "/")
            .applyToClientSettings(settings -> settings.addCommandListener(listener))
            .meterRegistry(meters)
            .observationRegistry(observations);
    kind.accept(builder);
    MongoClient client = builder.client(MongoClient.class);
    Mono.from(client.getDatabase("it").getCollection("c").find(Filters.eq(5)).first())
        .block(TIMEOUT);
    Mono.from(client.startSession()).block(TIMEOUT).close();
    client.close();
    return List.of(new WeakReference<>(client), new WeakReference<>(listener));
  }
}
