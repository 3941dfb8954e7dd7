package dev.onehop.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.mongodb.client.model.Filters;
import com.mongodb.client.model.Updates;
import com.mongodb.reactivestreams.client.MongoClient;
import com.mongodb.reactivestreams.client.MongoCollection;
import dev.onehop.routing.OneHop;
import dev.onehop.testbed.Testbed;
import dev.onehop.testbed.evidence.RouterSampling;
import dev.onehop.testbed.topology.Topology;
import dev.onehop.wire.RealTime;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.bson.Document;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * The mongos near a shard is cut off or killed under load. No operation fails, is lost or runs
 * twice, and operations use the mongos again when it returns.
 *
 * <p>On a quiet machine, the test must also pass with {@code -Donehop.it.stall.seconds=2
 * -Donehop.it.back.seconds=10}.
 */
@Tag("alone")
@Tag("full")
class RouterFailureIT {
  private static final String NAMESPACE = "it.failures";
  private static final String MONGOS = "127.27.2.1:27017";

  private static final int DOCUMENTS = 300;
  private static final int CONCURRENCY = 32;

  /**
   * The default is longer than a quiet machine needs, because other programs run during a build.
   */
  private static final Duration LONGEST_STALL =
      Duration.ofSeconds(Integer.getInteger("onehop.it.stall.seconds", 6));

  private static final Duration RETURN_LIMIT =
      Duration.ofSeconds(Integer.getInteger("onehop.it.back.seconds", 20));

  /**
   * With this frequency, the driver's monitors check the missing mongos several times while it is
   * away.
   */
  private static final String OPTIONS = "/?heartbeatFrequencyMS=1000";

  private static final Duration OUTAGE = Duration.ofSeconds(5);
  private static final Duration TIMEOUT = Duration.ofSeconds(30);

  private Testbed testbed;
  private MongoClient client;
  private MongoCollection<Document> collection;

  @BeforeEach
  void start() {
    TestCluster.requireProcesses();
    testbed = Testbed.builder(Topology.named("us-2014")).start();
    testbed.shardCollection(NAMESPACE, Numbered.KEY, Numbered.splitAt(100, 200));
    client = OneHop.builder(testbed.url() + OPTIONS).client(MongoClient.class);
    collection = client.getDatabase("it").getCollection("failures");
    Mono.from(
            collection.insertMany(
                IntStream.range(0, DOCUMENTS)
                    .mapToObj(i -> new Document("_id", i).append("n", 0))
                    .toList()))
        .block(TIMEOUT);
  }

  @AfterEach
  void stop() {
    if (client != null) {
      client.close();
    }
    if (testbed != null) {
      testbed.close();
    }
  }

  @Test
  void survivesBlockedMongos() throws InterruptedException {
    Load load = new Load(collection);
    await().atMost(TIMEOUT).until(() -> load.operations() > 500);
    assertThat(besideOwner()).isEqualTo(1);

    testbed.setBlocked(MONGOS, true);
    RealTime.pass(OUTAGE);
    long duringOutage = load.operations();
    testbed.setBlocked(MONGOS, false);

    awaitReturn();
    assertThat(load.operations()).isGreaterThan(duringOutage);
    load.stopAndCheck();
  }

  @Test
  void survivesKilledMongos() throws IOException, InterruptedException {
    Load load = new Load(collection);
    await().atMost(TIMEOUT).until(() -> load.operations() > 500);

    try (ServerProcess mongos = ServerProcess.of("us-2014", MONGOS)) {
      mongos.kill();
      RealTime.pass(OUTAGE);
      assertThat(besideOwner()).isLessThan(1);

      mongos.restart();
      awaitReturn();
      load.stopAndCheck();
    }
  }

  private void awaitReturn() {
    long start = System.nanoTime();
    await().atMost(RETURN_LIMIT).until(() -> besideOwner() == 1);
    System.err.printf("back after %s%n", Duration.ofNanos(System.nanoTime() - start));
  }

  private double besideOwner() throws InterruptedException {
    try (RouterSampling sampling = testbed.evidence(NAMESPACE).sampleRouters(1)) {
      RealTime.pass(Duration.ofMillis(500));
      return sampling.besideOwner().fraction().orElse(0);
    }
  }

  /** Reads and increments of random documents, and their results. */
  private static final class Load {
    private final MongoCollection<Document> collection;
    private final AtomicIntegerArray acknowledged = new AtomicIntegerArray(DOCUMENTS);
    private final AtomicLong operations = new AtomicLong();
    private final AtomicLong slowestNanos = new AtomicLong();
    private final ConcurrentLinkedQueue<Throwable> failures = new ConcurrentLinkedQueue<>();
    private final AtomicLong inFlight = new AtomicLong();
    private final Disposable running;
    private volatile boolean stopped;

    Load(MongoCollection<Document> collection) {
      this.collection = collection;
      this.running =
          Flux.range(0, CONCURRENCY)
              .flatMap(i -> Mono.defer(this::operation).repeat(() -> !stopped), CONCURRENCY)
              .subscribe();
    }

    private Mono<Void> operation() {
      int id = ThreadLocalRandom.current().nextInt(DOCUMENTS);
      long start = System.nanoTime();
      inFlight.incrementAndGet();
      Mono<?> operation =
          ThreadLocalRandom.current().nextBoolean()
              ? Mono.from(collection.find(Filters.eq(id)).first())
              : Mono.from(collection.updateOne(Filters.eq(id), Updates.inc("n", 1)))
                  .doOnNext(updated -> acknowledged.incrementAndGet(id));
      return operation
          .doOnError(failures::add)
          .onErrorComplete()
          .doFinally(
              signal -> {
                long took = System.nanoTime() - start;
                var unused = slowestNanos.accumulateAndGet(took, Math::max);
                operations.incrementAndGet();
                inFlight.decrementAndGet();
              })
          .then();
    }

    long operations() {
      return operations.get();
    }

    void stopAndCheck() {
      stopped = true;
      await().atMost(TIMEOUT).until(() -> inFlight.get() == 0);
      running.dispose();
      assertThat(failures).isEmpty();
      List<Document> found = Flux.from(collection.find()).collectList().block(TIMEOUT);
      assertThat(found).hasSize(DOCUMENTS);
      for (Document document : found) {
        int id = document.getInteger("_id");
        assertThat(document.getInteger("n")).as("document %d", id).isEqualTo(acknowledged.get(id));
      }
      Duration slowest = Duration.ofNanos(slowestNanos.get());
      System.err.printf("%d operations, the slowest took %s%n", operations.get(), slowest);
      assertThat(slowest).isLessThanOrEqualTo(LONGEST_STALL);
    }
  }
}
