package dev.onehop.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.mongodb.client.model.Filters;
import com.mongodb.client.model.InsertOneModel;
import com.mongodb.client.model.Updates;
import com.mongodb.reactivestreams.client.MongoClient;
import com.mongodb.reactivestreams.client.MongoClients;
import com.mongodb.reactivestreams.client.MongoCollection;
import dev.onehop.routing.OneHop;
import dev.onehop.routing.observation.RouteDecision;
import dev.onehop.routing.observation.RouteExplanation;
import dev.onehop.routing.observation.RoutingObservationContext;
import dev.onehop.testbed.Testbed;
import dev.onehop.testbed.evidence.LocalHits;
import dev.onehop.testbed.evidence.RouterSampling;
import dev.onehop.testbed.topology.Topology;
import dev.onehop.wire.RealTime;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationHandler;
import io.micrometer.observation.ObservationRegistry;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import org.bson.BsonDocument;
import org.bson.BsonMinKey;
import org.bson.Document;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.reactivestreams.Publisher;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * How soon routed operations follow changes of the cluster. The shards' profilers show which mongos
 * has executed an operation.
 */
@Tag("nightly")
@Tag("alone")
class FreshnessIT {
  private static final Duration TIMEOUT = Duration.ofSeconds(30);
  private static final Duration REFRESH = Duration.ofSeconds(3);
  private static final int DOCUMENTS = 300;
  private static final int CONCURRENCY = 32;

  private static Testbed testbed;
  private static int collections;

  @BeforeAll
  static void start() {
    testbed = Testbed.builder(Topology.named("us-2014")).start();
  }

  @AfterAll
  static void stop() {
    if (testbed != null) {
      testbed.close();
    }
  }

  /**
   * The change history is not read, so OneHop finds the migration only by its refresh timer. An
   * interval may be a quarter longer than its setting.
   */
  @Test
  void refreshTimerFindsMigrationWithinOneInterval() throws InterruptedException {
    assertFollowsMigration(
        OneHop.builder(testbed.url()).refreshInterval(REFRESH).historyInterval(Duration.ZERO),
        REFRESH.multipliedBy(5).dividedBy(4).plusMillis(250));
  }

  @Test
  void changeHistoryShowsMigrationBeforeTimer() throws InterruptedException {
    assertFollowsMigration(
        OneHop.builder(testbed.url())
            .refreshInterval(Duration.ofMinutes(10))
            .historyInterval(Duration.ofSeconds(1)),
        Duration.ofSeconds(2));
  }

  /**
   * A slow operation is only a hint that a range has moved. If there are many hints, as on a busy
   * machine, OneHop refreshes only every five seconds.
   */
  @Test
  void slowOperationsShowMigrationWithoutTimerAndHistory() throws InterruptedException {
    assertFollowsMigration(
        OneHop.builder(testbed.url())
            .refreshInterval(Duration.ofMinutes(10))
            .historyInterval(Duration.ZERO),
        Duration.ofSeconds(8));
  }

  @Test
  void detectsDroppedAndRecreatedCollections() {
    String name = sharded();
    try (OneHop router =
            OneHop.builder(testbed.url()).historyInterval(Duration.ofMillis(500)).build();
        MongoClient client = MongoClients.create(router.clientSettings())) {
      MongoCollection<Document> collection = client.getDatabase("it").getCollection(name);
      run(collection.insertMany(Numbered.documents(DOCUMENTS)));
      assertThat(explained(router, name, 299)).isEqualTo(List.of("shard-ca"));

      testbed.dropCollection("it." + name);
      await()
          .atMost(TIMEOUT)
          .untilAsserted(
              () -> assertThat(explanation(router, name, 299).reason()).contains("unsharded"));
      assertThat(run(collection.countDocuments())).isZero();

      testbed.shardCollection("it." + name, Numbered.KEY, Numbered.splitAt(290, 295));
      // A refresh may come between the migrations that place the chunks, so the test waits until
      // the router knows all of them.
      await()
          .atMost(TIMEOUT)
          .untilAsserted(
              () -> {
                assertThat(explained(router, name, 289)).isEqualTo(List.of("shard-va"));
                assertThat(explained(router, name, 290)).isEqualTo(List.of("shard-or"));
                assertThat(explained(router, name, 295)).isEqualTo(List.of("shard-ca"));
              });
      run(collection.insertMany(Numbered.documents(DOCUMENTS)));
      try (RouterSampling sampling = testbed.evidence("it." + name).sampleRouters(1)) {
        for (int i = 0; i < 50; i++) {
          assertThat(run(collection.find(Filters.eq(250 + i)).first())).containsEntry("n", 250 + i);
        }
        assertThat(sampling.besideOwner().fraction()).hasValue(1.0);
      }
    }
  }

  @Test
  void explanationsAndObservationsMatchExecution() {
    String name = sharded();
    Queue<RoutingObservationContext> ended = new ConcurrentLinkedQueue<>();
    ObservationRegistry observations = ObservationRegistry.create();
    observations
        .observationConfig()
        .observationHandler(
            new ObservationHandler<RoutingObservationContext>() {
              @Override
              public void onStop(RoutingObservationContext context) {
                ended.add(context);
              }

              @Override
              public boolean supportsContext(Observation.Context context) {
                return context instanceof RoutingObservationContext;
              }
            });
    SimpleMeterRegistry meters = new SimpleMeterRegistry();
    try (OneHop router =
            OneHop.builder(testbed.url())
                .meterRegistry(meters)
                .observationRegistry(observations)
                .build();
        MongoClient client = MongoClients.create(router.clientSettings())) {
      MongoCollection<Document> collection = client.getDatabase("it").getCollection(name);

      RouteExplanation insert =
          router.explain("it." + name, new InsertOneModel<>(new Document("_id", 150)));
      assertThat(insert.decision()).isEqualTo(RouteDecision.OWNER);
      assertThat(insert.shards()).containsExactly("shard-or");
      assertThat(insert.routers()).hasSize(1);
      run(collection.insertOne(new Document("_id", 150)));
      assertThat(run(collection.find(Filters.eq(150)).first())).containsEntry("_id", 150);
      assertThat(run(collection.find(Filters.gte("_id", 0)).first())).containsEntry("_id", 150);
      // Waits, because the application may get a result a moment before the operation's observation
      // ends.
      await().atMost(TIMEOUT).until(() -> ended.size() == 3);

      assertThat(ended)
          .filteredOn(each -> each.decision() == RouteDecision.OWNER)
          .hasSize(2)
          .allSatisfy(each -> assertThat(each.servers()).isEqualTo(insert.routers()))
          .extracting(RoutingObservationContext::operation)
          .containsExactly("insert", "find");
      assertThat(ended)
          .filteredOn(each -> each.decision() == RouteDecision.SEVERAL_SHARDS)
          .singleElement()
          .satisfies(
              each ->
                  assertThat(each.servers())
                      .hasSize(1)
                      .doesNotContainAnyElementsOf(insert.routers()));
      assertThat(
              meters
                  .get("onehop.operations")
                  .tags(
                      "operation", "insert",
                      "mode", "targeted",
                      "decision", "owner",
                      "shard", "shard-or",
                      "server", insert.routers().get(0).toString(),
                      "outcome", "ok")
                  .timer()
                  .count())
          .isEqualTo(1);
      assertThat(meters.get("onehop.table.chunks").tag("namespace", "it." + name).gauge().value())
          .isEqualTo(6);
      assertThat(meters.get("onehop.table.age").tag("namespace", "it." + name).timeGauge().value())
          .isBetween(0.0, 60_000.0);
      assertThat(
              meters
                  .get("onehop.affinity.routers")
                  .tags("shard", "shard-or", "source", "same-host")
                  .gauge()
                  .value())
          .isEqualTo(1);
    }
  }

  /**
   * Checks under load that no operation takes a detour when {@code within} has passed since a
   * migration.
   */
  private static void assertFollowsMigration(OneHop.Builder builder, Duration within)
      throws InterruptedException {
    String name = sharded();
    Queue<Throwable> failures = new ConcurrentLinkedQueue<>();
    AtomicBoolean stopped = new AtomicBoolean();
    try (MongoClient client = builder.client(MongoClient.class)) {
      MongoCollection<Document> collection = client.getDatabase("it").getCollection(name);
      run(collection.insertMany(Numbered.documents(DOCUMENTS)));
      Disposable load =
          Flux.range(0, CONCURRENCY)
              .flatMap(
                  i -> Mono.defer(() -> operation(collection)).repeat(() -> !stopped.get()),
                  CONCURRENCY)
              .subscribe(done -> {}, failures::add);
      RealTime.pass(Duration.ofSeconds(1));

      try (RouterSampling sampling = testbed.evidence("it." + name).sampleRouters(1)) {
        Instant begin = Instant.now();
        RealTime.pass(Duration.ofSeconds(1));
        LocalHits steady = sampling.besideOwner(begin, Instant.now());
        assertThat(steady.fraction()).as("steady state: %s", steady).hasValue(1.0);

        testbed.moveRange("it." + name, new BsonDocument("_id", new BsonMinKey()), "shard-ca");
        Instant moved = Instant.now();
        RealTime.pass(within.plusSeconds(3));

        LocalHits after = sampling.besideOwner(moved.plus(within), Instant.now());
        assertThat(after.sampled()).isGreaterThan(300);
        assertThat(after.fraction().orElse(0))
            .as("beside the owner from %s after the move on: %s", within, after)
            .isGreaterThanOrEqualTo(0.999);
      }
      stopped.set(true);
      RealTime.pass(Duration.ofMillis(500));
      load.dispose();
    }
    assertThat(failures).isEmpty();
  }

  private static Mono<Object> operation(MongoCollection<Document> collection) {
    int id = ThreadLocalRandom.current().nextInt(DOCUMENTS);
    return ThreadLocalRandom.current().nextBoolean()
        ? Mono.from(collection.find(Filters.eq(id)).first()).cast(Object.class)
        : Mono.from(collection.updateOne(Filters.eq(id), Updates.inc("n", 1))).cast(Object.class);
  }

  private static List<String> explained(OneHop router, String name, int id) {
    return explanation(router, name, id).shards();
  }

  private static RouteExplanation explanation(OneHop router, String name, int id) {
    return router.explain("it." + name, Filters.eq(id));
  }

  /** A new collection over all shards. Each shard owns a third of the ids 0 to 299. */
  private static String sharded() {
    String name = "fresh" + collections++;
    testbed.shardCollection("it." + name, Numbered.KEY, Numbered.splitAt(50, 100, 150, 200, 250));
    return name;
  }

  private static <T> T run(Publisher<T> operation) {
    return Mono.from(operation).block(TIMEOUT);
  }
}
