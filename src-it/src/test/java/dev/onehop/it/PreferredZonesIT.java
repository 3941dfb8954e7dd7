package dev.onehop.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.mongodb.ReadPreference;
import com.mongodb.ServerAddress;
import com.mongodb.WriteConcern;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.client.MongoDatabase;
import com.mongodb.client.model.Filters;
import dev.onehop.routing.OneHop;
import dev.onehop.routing.RoutingMode;
import dev.onehop.routing.observation.RouteDecision;
import dev.onehop.routing.observation.RouteExplanation;
import dev.onehop.testbed.Testbed;
import dev.onehop.testbed.topology.Topology;
import dev.onehop.wire.RealTime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import org.bson.Document;
import org.bson.conversions.Bson;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import reactor.core.publisher.Mono;

/**
 * The effect of preferred zones. The cluster has three zones with nearly the same round trips. The
 * servers' counters of queries show which server executed the reads.
 */
@Tag("nightly")
@Tag("alone")
class PreferredZonesIT {
  private static final String TOPOLOGY =
      """
      name: preferred-zones
      regions: [a, b, c]
      roundTrips: {a <-> b: 1, a <-> c: 1, b <-> c: 1, a <-> a: 0.2}
      hosts:
        app: {region: a, address: 127.64.1.1}
        a1: {region: a, address: 127.64.1.2}
        b1: {region: b, address: 127.64.2.1}
        c1: {region: c, address: 127.64.3.1}
      client: app
      configServers: [c1]
      shards:
        s1: [b1, a1, c1]
        s2: [c1, b1, a1]
      mongos: [a1, b1, c1]
      """;

  private static final String A = "127.64.1.2";
  private static final String B = "127.64.2.1";
  private static final String C = "127.64.3.1";
  private static final String ZONES = "onehop.preferredZones=a=" + A + ",b=" + B;
  private static final int READS = 300;

  /** On a quiet machine, the test must also pass with {@code -Donehop.it.stall.seconds=2}. */
  private static final Duration FAILOVER_LIMIT =
      Duration.ofSeconds(Integer.getInteger("onehop.it.stall.seconds", 6));

  private static final Duration RETURN_LIMIT = Duration.ofSeconds(10);

  private static final Map<String, ServerProcess> PROCESSES = new HashMap<>();

  private static Testbed testbed;

  @BeforeAll
  static void start() {
    TestCluster.requireProcesses();
    testbed = Testbed.builder(Topology.parse("it.yaml", TOPOLOGY)).start();
    testbed.shardCollection("it.zones", Numbered.KEY, Numbered.splitAt(100));
    try (MongoClient client = MongoClients.create("mongodb://" + B)) {
      client
          .getDatabase("it")
          .getCollection("zones")
          .withWriteConcern(WriteConcern.W3)
          .insertMany(Numbered.documents(200));
    }
    for (String host : List.of(A, B, C)) {
      withoutMirroredReads(host);
    }
  }

  /**
   * By default, a primary mirrors 1 % of its reads to the secondaries. The counters of the
   * secondaries would then show more queries than the client's. So this method turns mirroring off.
   */
  private static void withoutMirroredReads(String host) {
    try (MongoClient direct =
        MongoClients.create("mongodb://" + host + ":27018/?directConnection=true")) {
      direct
          .getDatabase("admin")
          .runCommand(
              new Document("setParameter", 1)
                  .append("mirrorReads", new Document("samplingRate", 0.0)));
    }
  }

  @AfterAll
  static void stop() {
    PROCESSES.values().forEach(ServerProcess::close);
    if (testbed != null) {
      testbed.close();
    }
  }

  /** A client of the reactive or the synchronous driver. */
  private interface Reads extends AutoCloseable {
    Document find(Bson filter, ReadPreference preference);

    @Override
    void close();
  }

  private static Reads reads(RoutingMode mode, boolean sync) {
    OneHop.Builder builder =
        OneHop.builder("mongodb://%s,%s,%s/?%s".formatted(A, B, C, ZONES)).routing(mode);
    if (sync) {
      MongoClient client = builder.client(MongoClient.class);
      return new Reads() {
        @Override
        public Document find(Bson filter, ReadPreference preference) {
          return client
              .getDatabase("it")
              .getCollection("zones")
              .withReadPreference(preference)
              .find(filter)
              .first();
        }

        @Override
        public void close() {
          client.close();
        }
      };
    }
    com.mongodb.reactivestreams.client.MongoClient client =
        builder.client(com.mongodb.reactivestreams.client.MongoClient.class);
    return new Reads() {
      @Override
      public Document find(Bson filter, ReadPreference preference) {
        return Mono.from(
                client
                    .getDatabase("it")
                    .getCollection("zones")
                    .withReadPreference(preference)
                    .find(filter)
                    .first())
            .block(Duration.ofSeconds(30));
      }

      @Override
      public void close() {
        client.close();
      }
    };
  }

  @ParameterizedTest
  @CsvSource({
    "TARGETED, false",
    "TARGETED, true",
    "DIRECT, false",
    "DIRECT, true",
    "NONE, false",
    "NONE, true"
  })
  void readsFromAnyMemberUseFirstZone(RoutingMode mode, boolean sync) {
    int port = mode == RoutingMode.DIRECT ? 27018 : 27017;
    for (ReadPreference preference :
        List.of(
            ReadPreference.nearest(),
            ReadPreference.secondary(),
            ReadPreference.secondaryPreferred())) {
      Map<String, Long> served =
          served(mode, sync, port, reads -> reads.find(Filters.eq(randomOf(0, 100)), preference));
      assertAllServedBy(A, port, served);
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"TARGETED", "NONE"})
  void operationsWithoutOwnerUseFirstZone(RoutingMode mode) {
    Map<String, Long> served =
        served(
            mode,
            false,
            27017,
            reads -> reads.find(Filters.eq("n", randomOf(0, 200)), ReadPreference.primary()));
    assertAllServedBy(A, 27017, served);
  }

  @Test
  void primaryReadsUseOwnersMongos() {
    Map<String, Long> served =
        served(
            RoutingMode.TARGETED,
            false,
            27017,
            reads -> reads.find(Filters.eq(randomOf(0, 100)), ReadPreference.primary()));
    // Until the first routing table is loaded, reads go to zone a. The limits allow for these
    // reads.
    assertThat(served.get(B)).isGreaterThan(READS * 8 / 10);
    assertThat(served.get(A)).isLessThan(READS * 2 / 10);
    assertThat(served.get(C)).isLessThan(READS * 2 / 10);
  }

  /**
   * Checks that all reads were at one host. A mongos also counts OneHop's reads of the metadata.
   * For the id of the cluster, OneHop may query any mongos, so each other mongos may have up to two
   * queries.
   */
  private static void assertAllServedBy(String host, int port, Map<String, Long> served) {
    served.forEach(
        (each, count) -> {
          if (each.equals(host)) {
            assertThat(count).as("%s of %s", each, served).isGreaterThanOrEqualTo(READS);
          } else {
            assertThat(count)
                .as("%s of %s", each, served)
                .isLessThanOrEqualTo(port == 27017 ? 2 : 0);
          }
        });
  }

  /** The number of queries that each server with this port counts while a new client reads. */
  private static Map<String, Long> served(
      RoutingMode mode, boolean sync, int port, Function<Reads, Document> read) {
    Map<String, Long> before = queries(port);
    try (Reads client = reads(mode, sync)) {
      for (int i = 0; i < READS; i++) {
        assertThat(read.apply(client)).isNotNull();
      }
    }
    Map<String, Long> served = new TreeMap<>();
    queries(port).forEach((host, count) -> served.put(host, count - before.get(host)));
    return served;
  }

  @ParameterizedTest
  @CsvSource({"TARGETED, false", "DIRECT, false", "DIRECT, true", "NONE, true"})
  void nextZoneServesUntilFirstReturns(RoutingMode mode, boolean sync) throws Exception {
    int port = mode == RoutingMode.DIRECT ? 27018 : 27017;
    // If an earlier case restarted the server, the testbed does not know the new process, but this
    // map has it.
    ServerProcess first =
        PROCESSES.containsKey(A + ":" + port)
            ? PROCESSES.get(A + ":" + port)
            : ServerProcess.of("preferred-zones", A + ":" + port);
    PROCESSES.put(first.address(), first);
    try (Reads client = reads(mode, sync);
        Load load = new Load(client)) {
      await().until(() -> load.count() > 200);

      first.kill();
      try {
        long killed = System.nanoTime();
        long before = queries(B, port);
        await().atMost(FAILOVER_LIMIT).until(() -> queries(B, port) > before + 20);
        print("the next zone serves after", killed);
        RealTime.pass(Duration.ofSeconds(1));
        long lastZoneBefore = queries(C, port);
        RealTime.pass(Duration.ofSeconds(3));
        // This check comes before the restart. Later reads may go to the mongos that has just
        // started, and may then be slow.
        assertThat(Duration.ofNanos(load.slowest.get())).isLessThan(FAILOVER_LIMIT);
        assertThat(queries(C, port) - lastZoneBefore).isLessThanOrEqualTo(port == 27017 ? 2 : 0);
      } finally {
        first.restart();
      }
      long back = System.nanoTime();
      await()
          .atMost(RETURN_LIMIT)
          .until(
              () -> {
                long served = queries(B, port);
                long here = queries(A, port);
                RealTime.pass(Duration.ofMillis(200));
                return queries(B, port) == served && queries(A, port) > here;
              });
      print("the first zone serves all again after", back);
      load.stop();
      assertThat(load.failures).isEmpty();
    }
  }

  private static void print(String what, long since) {
    System.err.println(what + " " + Duration.ofNanos(System.nanoTime() - since));
  }

  @ParameterizedTest
  @EnumSource(names = {"TARGETED", "DIRECT"})
  void explainReportsZone(RoutingMode mode) {
    try (OneHop router =
        OneHop.builder("mongodb://%s,%s,%s/?%s".formatted(A, B, C, ZONES))
            .applyToClientSettings(settings -> settings.readPreference(ReadPreference.nearest()))
            .routing(mode)
            .build()) {
      Mono<RouteExplanation> explained = Mono.from(router.explainAsync("it.zones", Filters.eq(5)));
      await()
          .atMost(Duration.ofSeconds(30))
          .until(() -> explained.block().decision() != RouteDecision.NO_TABLE);
      RouteExplanation explanation = explained.block();
      assertThat(explanation.shards()).containsExactly("s1");
      assertThat(explanation.reason()).endsWith(" is in zone a, the zone of highest preference");
      boolean direct = mode == RoutingMode.DIRECT;
      assertThat(explanation.decision())
          .isEqualTo(direct ? RouteDecision.OWNER : RouteDecision.PREFERRED_ZONE);
      assertThat(explanation.routers())
          .containsExactly(new ServerAddress(A, direct ? 27018 : 27017));
    }
  }

  private static int randomOf(int from, int to) {
    return ThreadLocalRandom.current().nextInt(from, to);
  }

  private static Map<String, Long> queries(int port) {
    Map<String, Long> byHost = new TreeMap<>();
    for (String host : List.of(A, B, C)) {
      byHost.put(host, queries(host, port));
    }
    return byHost;
  }

  /** A mongos' counter of queries, or a member's counter for the collection. */
  private static long queries(String host, int port) {
    try (MongoClient direct =
        MongoClients.create("mongodb://" + host + ":" + port + "/?directConnection=true")) {
      MongoDatabase admin = direct.getDatabase("admin");
      if (port == 27017) {
        return admin
            .runCommand(new Document("serverStatus", 1))
            .get("opcounters", Document.class)
            .get("query", Number.class)
            .longValue();
      }
      Document ofCollection =
          admin
              .runCommand(new Document("top", 1))
              .get("totals", Document.class)
              .get("it.zones", new Document());
      return ofCollection
          .get("queries", new Document("count", 0))
          .get("count", Number.class)
          .longValue();
    }
  }

  /** Threads that read documents of the first shard. */
  private static final class Load implements AutoCloseable {
    private final AtomicLong count = new AtomicLong();
    private final AtomicLong slowest = new AtomicLong();
    private final Queue<Throwable> failures = new ConcurrentLinkedQueue<>();
    private final List<Thread> threads = new ArrayList<>();
    private volatile boolean stopped;

    Load(Reads client) {
      for (int i = 0; i < 4; i++) {
        Thread thread = new Thread(() -> run(client), "reads-" + i);
        threads.add(thread);
        thread.start();
      }
    }

    private void run(Reads client) {
      while (!stopped) {
        long began = System.nanoTime();
        try {
          Document found = client.find(Filters.eq(randomOf(0, 100)), ReadPreference.nearest());
          assertThat(found).isNotNull();
        } catch (RuntimeException | AssertionError e) {
          failures.add(e);
        }
        long took = System.nanoTime() - began;
        long unused = slowest.accumulateAndGet(took, Math::max);
        count.incrementAndGet();
      }
    }

    long count() {
      return count.get();
    }

    /** Waits for the running reads. */
    void stop() throws InterruptedException {
      stopped = true;
      for (Thread thread : threads) {
        thread.join();
      }
    }

    @Override
    public void close() {
      stopped = true;
    }
  }
}
