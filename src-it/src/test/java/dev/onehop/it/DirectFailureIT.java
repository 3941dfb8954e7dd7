package dev.onehop.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.mongodb.MongoException;
import com.mongodb.ReadConcern;
import com.mongodb.ReadPreference;
import com.mongodb.WriteConcern;
import com.mongodb.client.model.Filters;
import com.mongodb.client.model.Updates;
import com.mongodb.reactivestreams.client.MongoClient;
import com.mongodb.reactivestreams.client.MongoCollection;
import dev.onehop.routing.OneHop;
import dev.onehop.routing.RoutingMode;
import dev.onehop.testbed.Testbed;
import dev.onehop.testbed.topology.Topology;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import org.bson.Document;
import org.bson.conversions.Bson;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Mono;

/** Direct mode while a shard's primary or the config server dies. */
@Tag("full")
class DirectFailureIT {
  private static final String TOPOLOGY =
      """
      name: direct-failures
      regions: [here]
      hosts:
        a: {region: here, address: 127.31.0.1}
        b: {region: here, address: 127.31.0.2}
        c: {region: here, address: 127.31.0.3}
      roundTrips:
        here <-> here: 0
      client: a
      configServers: [a]
      shards:
        three: [a, b, c]
        one: [b]
      mongos: [a]
      """;

  private static final Duration TIMEOUT = Duration.ofSeconds(60);
  private static final int WRITERS = 8;
  private static final int KEYS = 200;

  private Testbed testbed;
  private MongoClient client;
  private MongoCollection<Document> collection;
  private String url;

  @BeforeEach
  void start() {
    testbed = Testbed.builder(Topology.parse("direct-failures.yaml", TOPOLOGY)).start();
    testbed.shardCollection("it.failures", Numbered.KEY, Numbered.splitAt(KEYS / 2));
    String configServers = testbed.configServers();
    url =
        "mongodb://"
            + configServers.substring(configServers.indexOf('/') + 1)
            + "/?replicaSet="
            + configServers.substring(0, configServers.indexOf('/'));
    client = OneHop.builder(url).routing(RoutingMode.DIRECT).client(MongoClient.class);
    collection =
        client.getDatabase("it").getCollection("failures").withWriteConcern(WriteConcern.MAJORITY);
    for (int i = 0; i < KEYS; i++) {
      run(collection.insertOne(new Document("_id", i).append("n", 0L)));
    }
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
  void killedPrimaryLosesNoAcknowledgedWrite() throws InterruptedException {
    Map<Integer, AtomicLong> acknowledged = new ConcurrentHashMap<>();
    Map<String, LongAdder> errors = new ConcurrentHashMap<>();
    AtomicLong lastWrite = new AtomicLong();
    LongAdder reads = new LongAdder();
    boolean[] stopping = {false};
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < WRITERS; i++) {
      int first = i;
      threads.add(
          new Thread(
              () -> {
                for (int key = first; !stopping[0]; key = (key + WRITERS) % KEYS) {
                  try {
                    assertThat(
                            run(collection.updateOne(Filters.eq(key), Updates.inc("n", 1L)))
                                .getModifiedCount())
                        .isEqualTo(1);
                    acknowledged.computeIfAbsent(key, k -> new AtomicLong()).incrementAndGet();
                    lastWrite.set(System.nanoTime());
                  } catch (RuntimeException | AssertionError e) {
                    errors
                        .computeIfAbsent("write: " + e.getMessage(), m -> new LongAdder())
                        .increment();
                  }
                }
              }));
    }
    // A secondary does not lose majority-committed data, so it may be read during an election.
    MongoCollection<Document> near =
        collection
            .withReadPreference(ReadPreference.primaryPreferred())
            .withReadConcern(ReadConcern.MAJORITY);
    AtomicLong longestReadNanos = new AtomicLong();
    threads.add(
        new Thread(
            () -> {
              for (int key = 0; !stopping[0]; key = (key + 1) % (KEYS / 2)) {
                long start = System.nanoTime();
                try {
                  assertThat(run(near.find(Filters.eq(key)).first())).containsKey("n");
                  reads.increment();
                } catch (RuntimeException | AssertionError e) {
                  errors
                      .computeIfAbsent("read: " + e.getMessage(), m -> new LongAdder())
                      .increment();
                }
                longestReadNanos.accumulateAndGet(System.nanoTime() - start, Math::max);
              }
            }));
    threads.forEach(Thread::start);
    await().atMost(TIMEOUT).until(() -> reads.sum() > 200 && acknowledged.size() == KEYS);

    TestCluster.kill("direct-failures", "127.31.0.1:27018");
    long killed = System.nanoTime();
    await().atMost(TIMEOUT).until(() -> lastWrite.get() - killed > TimeUnit.SECONDS.toNanos(15));
    stopping[0] = true;
    for (Thread thread : threads) {
      thread.join();
    }

    assertThat(errors).isEmpty();
    assertThat(lastWrite.get() - killed).isGreaterThan(TimeUnit.SECONDS.toNanos(15));
    for (int key = 0; key < KEYS; key++) {
      assertThat(run(collection.find(Filters.eq(key)).first()))
          .as("key %s", key)
          .containsEntry("n", acknowledged.get(key).get());
    }
  }

  /**
   * A new primary does not know at first which ranges of the collection it owns. Even then, a write
   * to many documents changes all of them.
   */
  @Test
  void updateManyReachesDocumentsOfNewPrimary() {
    try (MongoClient withMongos =
        OneHop.builder(testbed.url()).routing(RoutingMode.DIRECT).client(MongoClient.class)) {
      MongoCollection<Document> same =
          withMongos
              .getDatabase("it")
              .getCollection("failures")
              .withWriteConcern(WriteConcern.MAJORITY);
      assertThat(run(same.countDocuments())).isEqualTo(KEYS);
      TestCluster.kill("direct-failures", "127.31.0.1:27018");

      assertThat(updated(same, Filters.lt("_id", KEYS / 2), 5)).isEqualTo(KEYS / 2);
      assertThat(run(same.countDocuments(Filters.eq("n", 5L)))).isEqualTo(KEYS / 2);
      assertThat(updated(same, Filters.exists("n"), 7)).isEqualTo(KEYS);
      assertThat(run(same.countDocuments(Filters.eq("n", 7L)))).isEqualTo(KEYS);
    }
  }

  /**
   * Repeats a write until it is acknowledged. Returns the number of documents that this write has
   * matched.
   */
  private static long updated(MongoCollection<Document> collection, Bson filter, long n) {
    AtomicLong matched = new AtomicLong();
    await()
        .atMost(TIMEOUT)
        .ignoreExceptionsInstanceOf(MongoException.class)
        .until(
            () -> {
              matched.set(
                  run(collection.updateMany(filter, Updates.set("n", n))).getMatchedCount());
              return true;
            });
    return matched.get();
  }

  @Test
  void routesByCachedTablesWithoutConfigServer() {
    assertThat(run(collection.find(Filters.eq(1)).first())).containsKey("n");
    TestCluster.kill("direct-failures", "127.31.0.1:27019");

    for (int key = 0; key < KEYS; key++) {
      assertThat(
              run(collection.updateOne(Filters.eq(key), Updates.inc("n", 1L))).getModifiedCount())
          .isEqualTo(1);
      assertThat(run(collection.find(Filters.eq(key)).first())).containsEntry("n", 1L);
    }
    String urlWithShortTimeout = url + "&serverSelectionTimeoutMS=2000";
    try (MongoClient late =
        OneHop.builder(urlWithShortTimeout).routing(RoutingMode.DIRECT).client(MongoClient.class)) {
      assertThatThrownBy(
              () ->
                  run(late.getDatabase("it").getCollection("failures").find(Filters.eq(1)).first()))
          .hasMessageContaining("127.31.0.1:27019")
          .hasMessageContaining("unreachable");
    }
  }

  private static <T> T run(Publisher<T> operation) {
    return Mono.from(operation).block(TIMEOUT);
  }
}
