package dev.onehop.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.mongodb.MongoException;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.client.MongoCollection;
import dev.onehop.testbed.Testbed;
import dev.onehop.testbed.topology.RoundTrips;
import dev.onehop.testbed.topology.Topology;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.Document;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * The round trip of each pair of regions applies to clients and between servers. The tests check
 * only that nothing is faster, because on a busy machine everything may be slower.
 */
@Tag("full")
class RegionDelayIT {
  private static final String TOPOLOGY =
      """
      name: it-delay
      regions: [near, mid, far]
      roundTrips:
        near <-> near: 2
        near <-> mid: 20
        near <-> far: 60
        mid -> far: 30
        far -> mid: 45
      hosts:
        n1: {region: near, address: 127.63.1.1}
        n2: {region: near, address: 127.63.1.2}
        m1: {region: mid, address: 127.63.2.1}
        f1: {region: far, address: 127.63.3.1}
      client: n1
      configServers: [n1]
      shards:
        s-n2: [n2]
        s-m1: [m1]
        s-f1: [f1]
      mongos: [n1, m1, f1]
      """;

  /**
   * The time by which a single message may arrive too soon, because links set their timers a little
   * early.
   */
  private static final Duration TOLERANCE = Duration.ofNanos(700_000);

  private static Testbed testbed;

  @BeforeAll
  static void start() {
    testbed = Testbed.builder(Topology.parse("it.yaml", TOPOLOGY)).start();
    List<BsonDocument> points = new ArrayList<>();
    for (int point : new int[] {100, 200}) {
      points.add(new BsonDocument("_id", new BsonInt32(point)));
    }
    testbed.shardCollection("it.delay", new BsonDocument("_id", new BsonInt32(1)), points);
    List<Document> documents = new ArrayList<>();
    for (int i = 0; i < 300; i++) {
      documents.add(new Document("_id", i));
    }
    try (MongoClient client = MongoClients.create(testbed.url())) {
      client.getDatabase("it").getCollection("delay").insertMany(documents);
    }
  }

  @AfterAll
  static void stop() {
    if (testbed != null) {
      testbed.close();
    }
  }

  @Test
  void pingsTakeAtLeastConfiguredRoundTrips() {
    RoundTrips roundTrips = testbed.measureRoundTrips();
    assertThat(roundTrips.configured())
        .containsOnlyKeys("n1", "n2", "m1", "f1")
        .containsEntry("n1", Duration.ZERO)
        .containsEntry("f1", Duration.ofMillis(60));
    roundTrips
        .measured()
        .forEach(
            (host, measured) ->
                assertThat(measured)
                    .describedAs(host)
                    .isGreaterThanOrEqualTo(roundTrips.configured().get(host).minus(TOLERANCE)));
    // The client's own host has no link, so it must be the fastest. This shows that the links cause
    // the delays, and not the machine.
    assertThat(roundTrips.measured().get("n1")).isLessThan(roundTrips.measured().get("m1"));
    assertThat(roundTrips.measured().get("m1")).isLessThan(roundTrips.measured().get("f1"));
  }

  @Test
  void routerHasRoundTripsOfItsHost() {
    // A read takes the round trip to the router plus the one from the router to the shard. The
    // first router is on the client's host.
    assertThat(quickestRead("127.63.1.1", 250)).isGreaterThanOrEqualTo(millis(60));
    assertThat(quickestRead("127.63.2.1", 150)).isGreaterThanOrEqualTo(millis(20));
    assertThat(quickestRead("127.63.3.1", 50)).isGreaterThanOrEqualTo(millis(60 + 60));
  }

  @Test
  void roundTripsCanDependOnDirection() {
    assertThat(quickestRead("127.63.2.1", 250)).isGreaterThanOrEqualTo(millis(20 + 30));
    assertThat(quickestRead("127.63.3.1", 150)).isGreaterThanOrEqualTo(millis(60 + 45));
  }

  @Test
  void blocksAndUnblocksLink() {
    try (MongoClient client = MongoClients.create("mongodb://127.63.2.1:27017/?retryReads=false")) {
      MongoCollection<Document> collection = client.getDatabase("it").getCollection("delay");
      assertThat(collection.find(new Document("_id", 150)).first()).isNotNull();
      testbed.setBlocked("127.63.2.1:27017", true);
      assertThatThrownBy(() -> collection.find(new Document("_id", 150)).first())
          .isInstanceOf(MongoException.class);
      testbed.setBlocked("127.63.2.1:27017", false);
      assertThat(collection.find(new Document("_id", 150)).first()).isNotNull();
    }
    assertThatThrownBy(() -> testbed.cutConnections("127.63.2.1:9"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("there is no link to 127.63.2.1:9");
  }

  /**
   * The shortest time of several reads of a document over a router. The first reads fill the
   * router's caches.
   */
  private static Duration quickestRead(String router, int id) {
    long best = Long.MAX_VALUE;
    try (MongoClient client = MongoClients.create("mongodb://" + router + ":27017")) {
      MongoCollection<Document> collection = client.getDatabase("it").getCollection("delay");
      for (int i = 0; i < 8; i++) {
        long began = System.nanoTime();
        assertThat(collection.find(new Document("_id", id)).first()).containsEntry("_id", id);
        best = Math.min(best, System.nanoTime() - began);
      }
    }
    return Duration.ofNanos(best);
  }

  private static Duration millis(long millis) {
    return Duration.ofMillis(millis).minus(TOLERANCE.multipliedBy(2));
  }
}
