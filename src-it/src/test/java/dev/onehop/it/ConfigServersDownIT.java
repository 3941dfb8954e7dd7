package dev.onehop.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.mongodb.client.model.Filters;
import com.mongodb.client.model.Updates;
import com.mongodb.reactivestreams.client.MongoClient;
import com.mongodb.reactivestreams.client.MongoClients;
import com.mongodb.reactivestreams.client.MongoCollection;
import dev.onehop.routing.OneHop;
import dev.onehop.routing.RoutingMode;
import dev.onehop.routing.observation.RouteDecision;
import dev.onehop.testbed.RunningTestbed;
import dev.onehop.testbed.Testbed;
import dev.onehop.testbed.evidence.RouterSampling;
import dev.onehop.testbed.topology.Topology;
import dev.onehop.wire.RealTime;
import java.io.IOException;
import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonString;
import org.bson.Document;
import org.bson.types.ObjectId;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * The config servers are stopped for a while. Routed operations still go to mongoses near their
 * owners. Operations of the official client still go over the local mongos.
 *
 * <p>With {@code -Donehop.it.configdown.seconds=60}, they are stopped for a minute.
 */
@Tag("nightly")
class ConfigServersDownIT {
  private static final String NAMESPACE = "it.headless";
  private static final Duration DOWN =
      Duration.ofSeconds(Integer.getInteger("onehop.it.configdown.seconds", 15));
  private static final int DOCUMENTS = 300;
  private static final int CONCURRENCY = 16;
  private static final int COLLECTIONS = 8;
  private static final Duration TIMEOUT = Duration.ofSeconds(60);

  @Test
  void operationsContinueWithoutConfigServers() throws IOException, InterruptedException {
    try (Testbed testbed = Testbed.builder(Topology.named("us-2014")).start()) {
      testbed.shardCollection(
          NAMESPACE,
          new BsonDocument("_id", new BsonInt32(1)),
          IntStream.of(100, 200).mapToObj(i -> new BsonDocument("_id", new BsonInt32(i))).toList());
      long config = configServer("us-2014");
      try (OneHop router =
              OneHop.builder(testbed.url()).refreshInterval(Duration.ofSeconds(1)).build();
          MongoClient routed = MongoClients.create(router.clientSettings());
          MongoClient plain = MongoClients.create(testbed.url())) {
        Mono.from(
                routed
                    .getDatabase("it")
                    .getCollection("headless")
                    .insertMany(
                        IntStream.range(0, DOCUMENTS)
                            .mapToObj(i -> new Document("_id", i).append("n", 0))
                            .toList()))
            .block(TIMEOUT);
        Load ours = new Load(routed);
        Load theirs = new Load(plain);
        await().atMost(TIMEOUT).until(() -> ours.done.get() > 300 && theirs.done.get() > 30);

        signal("STOP", config);
        try {
          int before = ours.done.get();
          try (RouterSampling sampling = testbed.evidence(NAMESPACE).sampleRouters(1)) {
            RealTime.pass(DOWN);
            assertThat(ours.done.get() - before).isGreaterThan(300);
            assertThat(sampling.besideOwner().sample().total()).isGreaterThan(300);
          }
        } finally {
          signal("CONT", config);
        }
        int oursAtResume = ours.done.get();
        int theirsAtResume = theirs.done.get();
        await()
            .atMost(TIMEOUT)
            .until(
                () ->
                    ours.done.get() > oursAtResume + 300
                        && theirs.done.get() > theirsAtResume + 30);

        assertThat(theirs.stop()).isEmpty();
        assertThat(ours.stop()).isEmpty();
        System.err.printf(
            "%d routed operations, %d of the official client%n",
            ours.done.get(), theirs.done.get());
        // The config servers run again, so OneHop notices this migration.
        testbed.moveRange(NAMESPACE, new BsonDocument("_id", new BsonInt32(100)), "shard-ca");
        await()
            .atMost(TIMEOUT)
            .until(() -> router.explain(NAMESPACE, Filters.eq(150)).shards().contains("shard-ca"));
      }
    }
  }

  /** Each operation is on another collection. Only the first one waits for the config servers. */
  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "NONE")
  void newClientUsesAnyMongosWithoutConfigServers(RoutingMode mode)
      throws IOException, InterruptedException {
    try (Testbed testbed = Testbed.builder(Topology.named("single-host")).start()) {
      for (int i = 0; i < COLLECTIONS; i++) {
        testbed.shardHashedCollection(
            "it.c" + i, new BsonDocument("_id", new BsonString("hashed")), 6);
      }
      try (MongoClient plain = MongoClients.create(testbed.url())) {
        for (int i = 0; i < COLLECTIONS; i++) {
          insertAndFind(plain, "c" + i);
        }
      }
      long config = configServer("single-host");
      signal("STOP", config);
      boolean stopped = true;
      try (OneHop router = OneHop.builder(testbed.url()).routing(mode).build();
          MongoClient client = MongoClients.create(router.clientSettings())) {
        long start = System.nanoTime();
        for (int i = 0; i < COLLECTIONS; i++) {
          insertAndFind(client, "c" + i);
        }
        Duration took = Duration.ofNanos(System.nanoTime() - start);
        System.err.printf(
            "%s: first operations on %d collections in %s%n", mode, COLLECTIONS, took);
        // All operations together wait once. A wait for each collection would take longer than this
        // limit.
        assertThat(took).isLessThan(Duration.ofSeconds(2 * COLLECTIONS));

        signal("CONT", config);
        stopped = false;
        await()
            .atMost(TIMEOUT)
            .until(() -> router.explain("it.c0", Filters.eq(1)).decision() == RouteDecision.OWNER);
        insertAndFind(client, "c0");
      } finally {
        if (stopped) {
          signal("CONT", config);
        }
      }
    }
  }

  private static void insertAndFind(MongoClient client, String name) {
    MongoCollection<Document> collection = client.getDatabase("it").getCollection(name);
    Document document = new Document("_id", new ObjectId());
    Mono.from(collection.insertOne(document)).block(TIMEOUT);
    assertThat(Mono.from(collection.find(document).first()).block(TIMEOUT)).isEqualTo(document);
  }

  private static long configServer(String topology) {
    return RunningTestbed.all().stream()
        .filter(running -> running.topologyName().equals(topology))
        .flatMap(running -> running.servers().stream())
        .filter(server -> server.name().startsWith("config"))
        .findFirst()
        .orElseThrow()
        .pid();
  }

  private static void signal(String name, long pid) throws IOException, InterruptedException {
    assertThat(
            new ProcessBuilder("kill", "-" + name, Long.toString(pid))
                .inheritIO()
                .start()
                .waitFor())
        .isZero();
  }

  private static final class Load {
    private final MongoCollection<Document> collection;
    private final AtomicInteger done = new AtomicInteger();
    private final AtomicInteger running = new AtomicInteger(CONCURRENCY);
    private final Queue<Throwable> failures = new ConcurrentLinkedQueue<>();
    private volatile boolean stopped;

    Load(MongoClient client) {
      collection = client.getDatabase("it").getCollection("headless");
      Flux.range(0, CONCURRENCY)
          .flatMap(
              i ->
                  Mono.defer(this::operation)
                      .repeat(() -> !stopped)
                      .doFinally(signal -> running.decrementAndGet()),
              CONCURRENCY)
          .subscribe();
    }

    private Mono<Object> operation() {
      int id = ThreadLocalRandom.current().nextInt(DOCUMENTS);
      Mono<Object> operation =
          ThreadLocalRandom.current().nextBoolean()
              ? Mono.from(collection.find(Filters.eq(id)).first()).cast(Object.class)
              : Mono.from(collection.updateOne(Filters.eq(id), Updates.inc("n", 1)))
                  .cast(Object.class);
      return operation
          .doOnError(failures::add)
          .onErrorComplete()
          .doFinally(signal -> done.incrementAndGet());
    }

    Queue<Throwable> stop() {
      stopped = true;
      await().atMost(TIMEOUT).until(() -> running.get() == 0);
      return failures;
    }
  }
}
