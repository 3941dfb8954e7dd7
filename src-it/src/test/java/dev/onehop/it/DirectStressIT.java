package dev.onehop.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.mongodb.client.MongoClients;
import com.mongodb.reactivestreams.client.MongoClient;
import dev.onehop.routing.OneHop;
import dev.onehop.routing.RoutingMode;
import dev.onehop.testbed.Testbed;
import dev.onehop.testbed.evidence.Placement;
import dev.onehop.testbed.junit.ShardedCluster;
import dev.onehop.testbed.junit.SharedCluster;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.stream.IntStream;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonMinKey;
import org.bson.Document;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Ranges move between all shards without a pause while {@link CounterWorkload} runs in direct mode.
 * Every acknowledged write is stored exactly once, no read returns an orphan, and no client gets an
 * error. A second test runs without versions and finds errors. This shows that the first test can
 * fail.
 *
 * <p>The system property {@code onehop.it.stress.seconds} sets the duration: 20 by default, 300 for
 * a thorough run.
 */
@Tag("nightly")
@ShardedCluster
class DirectStressIT {
  private static final Duration DURATION =
      Duration.ofSeconds(Integer.getInteger("onehop.it.stress.seconds", 20));
  private static final Duration WITHOUT_VERSIONS = Duration.ofSeconds(8);
  private static final int CHUNKS = 8;
  private static final int LEAST_MOVES = 10;

  private static SharedCluster cluster;
  private static Testbed testbed;

  @BeforeAll
  static void start(SharedCluster shared) {
    cluster = shared;
    testbed = cluster.testbed();
    // By default, shards delete orphans after 15 minutes, and until then a range cannot move back.
    // The test sets a shorter time.
    for (String shard : shardUrls()) {
      try (com.mongodb.client.MongoClient client = MongoClients.create(shard)) {
        client
            .getDatabase("admin")
            .runCommand(new Document("setParameter", 1).append("orphanCleanupDelaySecs", 1));
      }
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void movingRangesCauseNoLostOrWrongResults(boolean pipelining) {
    String name = pipelining ? "stressPipelined" : "stress";
    String namespace = sharded(name);
    OneHop.Builder direct = OneHop.builder(testbed.url()).routing(RoutingMode.DIRECT);
    if (pipelining) {
      direct.pipelining(sockets -> sockets.socketsPerServer(3));
    }
    try (MongoClient client = direct.client(MongoClient.class)) {
      CounterWorkload workload =
          new CounterWorkload(client.getDatabase(cluster.database()).getCollection(name));
      int moves;
      try (workload) {
        moves = moveRanges(namespace, DURATION);
      }
      System.out.println(
          "STRESS%s: %d operations while %d ranges moved"
              .formatted(pipelining ? ", pipelined" : "", workload.operations(), moves));

      assertThat(workload.errors()).as("errors shown to the caller").isEmpty();
      assertThat(workload.violations()).as("%s", workload.examples()).isEmpty();
      assertThat(moves).isGreaterThanOrEqualTo(LEAST_MOVES);
      assertThat(workload.operations()).isGreaterThan(1_000);
      await()
          .atMost(Duration.ofSeconds(60))
          .untilAsserted(
              () ->
                  assertThat(testbed.evidence(namespace).placement()).matches(Placement::isRight));
      assertThat(stored(name)).isEqualTo(workload.expected());
    }
  }

  @Test
  void unversionedClientGetsWrongResults() {
    String namespace = sharded("unversioned");
    try (UnversionedClient unversioned = new UnversionedClient(testbed.url())) {
      CounterWorkload workload =
          new CounterWorkload(
              unversioned.client().getDatabase(cluster.database()).getCollection("unversioned"));
      try (workload) {
        moveRanges(namespace, WITHOUT_VERSIONS);
      }
      System.out.println("STRESS without versions: " + workload.violations());

      assertThat(workload.violations()).isNotEmpty();
    }
  }

  private static int moveRanges(String namespace, Duration duration) {
    List<String> shards = List.copyOf(testbed.shardHosts().keySet());
    int[] owner = IntStream.range(0, CHUNKS).map(i -> i % shards.size()).toArray();
    Random random = new Random(7);
    long end = System.nanoTime() + duration.toNanos();
    int moves = 0;
    while (System.nanoTime() < end) {
      int chunk = random.nextInt(CHUNKS);
      owner[chunk] = (owner[chunk] + 1 + random.nextInt(shards.size() - 1)) % shards.size();
      BsonDocument min =
          new BsonDocument(
              "_id",
              chunk == 0 ? new BsonMinKey() : new BsonInt32(chunk * CounterWorkload.KEYS / CHUNKS));
      testbed.moveRange(namespace, min, shards.get(owner[chunk]));
      moves++;
    }
    return moves;
  }

  private static String sharded(String name) {
    testbed.shardCollection(
        cluster.namespace(name),
        new BsonDocument("_id", new BsonInt32(1)),
        IntStream.range(1, CHUNKS)
            .mapToObj(
                i -> new BsonDocument("_id", new BsonInt32(i * CounterWorkload.KEYS / CHUNKS)))
            .toList());
    return cluster.namespace(name);
  }

  /** All counters, read from one shard after the other. Fails if two shards store the same key. */
  private static Map<Integer, Long> stored(String name) {
    Map<Integer, Long> stored = new TreeMap<>();
    for (String shard : shardUrls()) {
      try (com.mongodb.client.MongoClient client = MongoClients.create(shard)) {
        for (Document document :
            client.getDatabase(cluster.database()).getCollection(name).find()) {
          assertThat(stored.put(document.getInteger("_id"), document.getLong("n")))
              .as("%s is on two shards", document)
              .isNull();
        }
      }
    }
    return stored;
  }

  private static List<String> shardUrls() {
    List<String> urls = new ArrayList<>();
    testbed
        .topology()
        .shards()
        .forEach(
            shard ->
                urls.add(
                    "mongodb://%s:%d/?directConnection=true"
                        .formatted(shard.hosts().get(0).address(), shard.port())));
    return urls;
  }
}
