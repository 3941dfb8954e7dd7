package dev.onehop.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

import com.mongodb.MongoTimeoutException;
import com.mongodb.WriteConcern;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.model.Filters;
import com.mongodb.client.model.Updates;
import dev.onehop.routing.OneHop;
import dev.onehop.routing.RoutingMode;
import dev.onehop.testbed.Testbed;
import dev.onehop.testbed.topology.Topology;
import dev.onehop.wire.RealTime;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.stream.IntStream;
import org.bson.Document;
import org.bson.conversions.Bson;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import reactor.core.publisher.Mono;

/**
 * The server of the operations is killed, cut off or frozen under load, and then returns. In both
 * modes and with both drivers, no retryable operation fails, and no acknowledged write is lost or
 * runs twice.
 *
 * <p>On a quiet machine, the test must also pass with {@code -Donehop.it.stall.seconds=2}.
 */
@Tag("alone")
@Tag("full")
class ServersUnderLoadIT {
  private static final String NAME = "servers-under-load";
  private static final String COLLECTION = "load";

  /**
   * The shard of three members can lose its primary. The other shard has one member, and shares a
   * host with the mongos that the tests disturb.
   */
  private static final String TOPOLOGY =
      """
      name: servers-under-load
      description: a shard of three members, one of one, a mongos beside each and two elsewhere
      regions: [here, there]
      roundTrips:
        here <-> here: 0
        there <-> there: 0
        here <-> there: 2
      hosts:
        app: {region: here, address: 127.41.0.1}
        h1: {region: there, address: 127.41.1.1}
        h2: {region: there, address: 127.41.2.1}
        h3: {region: there, address: 127.41.3.1}
      client: app
      configServers: [app]
      shards:
        three: [h1, h2, h3]
        one: [h3]
      mongos: [app, h1, h3]
      """;

  /**
   * The longest time of a request during a fault. It is long, because other programs run during a
   * build.
   */
  private static final Duration STALL =
      Duration.ofSeconds(Integer.getInteger("onehop.it.stall.seconds", 6));

  private static final Duration CONNECT_TIMEOUT = Duration.ofMillis(1_500);
  private static final Duration HEARTBEAT = Duration.ofMillis(500);

  /** After this time, the driver's monitor takes a silent server for lost. */
  private static final Duration FAILURE_DETECTION = CONNECT_TIMEOUT.plus(HEARTBEAT);

  private static final String OPTIONS =
      "/?connectTimeoutMS="
          + CONNECT_TIMEOUT.toMillis()
          + "&heartbeatFrequencyMS="
          + HEARTBEAT.toMillis();

  private static final Duration OUTAGE = Duration.ofSeconds(3);
  private static final Duration TIMEOUT = Duration.ofSeconds(60);
  private static final int THREADS = 4;
  private static final int COUNTERS = 100;
  private static final int ONE_BATCH = 1_000_000;
  private static final int FIRST_INSERT = 1_000;

  private static Testbed testbed;
  private static MongoClient plain;
  private static final List<ServerProcess> processes = new ArrayList<>();

  @BeforeAll
  static void start() {
    TestCluster.requireProcesses();
    testbed = Testbed.builder(Topology.parse("servers-under-load.yaml", TOPOLOGY)).start();
    // Closes idle connections soon, because the previous test may have killed their server.
    plain = MongoClients.create("mongodb://" + mongoses() + "/?maxIdleTimeMS=10");
    testbed.shardCollection("it." + COLLECTION, Numbered.KEY, Numbered.splitAt(COUNTERS / 2));
    shortenElectionTimeout();
  }

  @AfterAll
  static void stop() {
    processes.forEach(ServerProcess::close);
    if (plain != null) {
      plain.close();
    }
    if (testbed != null) {
      testbed.close();
    }
  }

  private static String mongoses() {
    return String.join(",", testbed.mongosAddresses());
  }

  /** Sets the election timeout to two seconds instead of ten. */
  private static void shortenElectionTimeout() {
    String members = testbed.shardHosts().get("three");
    int slash = members.indexOf('/');
    try (MongoClient shard =
        MongoClients.create(
            "mongodb://"
                + members.substring(slash + 1)
                + "/?replicaSet="
                + members.substring(0, slash))) {
      Document config =
          shard
              .getDatabase("admin")
              .runCommand(new Document("replSetGetConfig", 1))
              .get("config", Document.class);
      config.put("version", config.getInteger("version") + 1);
      config
          .get("settings", Document.class)
          .append("electionTimeoutMillis", 2_000)
          .append("heartbeatIntervalMillis", 500);
      shard.getDatabase("admin").runCommand(new Document("replSetReconfig", config));
    }
  }

  /** The server that a test disturbs. */
  enum Mode {
    /** The mongos near a shard. Other mongoses can serve its operations. */
    TARGETED {
      @Override
      String victim() {
        return "127.41.3.1:27017";
      }

      @Override
      Duration longestOutage() {
        return Duration.ZERO;
      }

      @Override
      Duration longestFreeze() {
        return FAILURE_DETECTION;
      }
    },
    /** A shard's primary. Operations wait for the next primary. */
    DIRECT {
      @Override
      String victim() {
        return members("three").stream()
            .filter(ServersUnderLoadIT::isPrimary)
            .findFirst()
            .orElseThrow();
      }

      @Override
      Duration longestOutage() {
        return OUTAGE;
      }

      @Override
      Duration longestFreeze() {
        return OUTAGE;
      }
    };

    abstract String victim();

    /**
     * The longest time for which operations have no server, if a server is away for {@link
     * #OUTAGE}.
     */
    abstract Duration longestOutage();

    /** Like {@link #longestOutage}, for a frozen server, which the driver notices later. */
    abstract Duration longestFreeze();

    OneHop router(String options) {
      return OneHop.builder("mongodb://" + mongoses() + OPTIONS + options)
          .routing(RoutingMode.valueOf(name()))
          .build();
    }
  }

  /** The process of a server. An earlier test may have restarted it. */
  private static ServerProcess process(String address) throws IOException {
    for (ServerProcess each : processes) {
      if (each.address().equals(address)) {
        return each;
      }
    }
    ServerProcess found = ServerProcess.of(NAME, address);
    processes.add(found);
    return found;
  }

  private static List<String> members(String shard) {
    String hosts = testbed.shardHosts().get(shard);
    return List.of(hosts.substring(hosts.indexOf('/') + 1).split(","));
  }

  private static boolean isPrimary(String member) {
    try (MongoClient server =
        MongoClients.create("mongodb://" + member + "/?directConnection=true")) {
      return server
          .getDatabase("admin")
          .runCommand(new Document("hello", 1))
          .getBoolean("isWritablePrimary");
    }
  }

  @ParameterizedTest
  @EnumSource
  void survivesKilledServer(Mode mode) throws IOException, InterruptedException {
    ServerProcess server = process(mode.victim());
    try (Loads loads = new Loads(mode)) {
      loads.during(
          mode.longestOutage().plus(STALL),
          () -> {
            server.kill();
            RealTime.pass(OUTAGE);
          });
      loads.during(STALL, server::restart);
      loads.stopAndCheck();
    }
  }

  @ParameterizedTest
  @EnumSource
  void survivesLostConnections(Mode mode) throws IOException, InterruptedException {
    String server = mode == Mode.DIRECT ? members("one").get(0) : mode.victim();
    try (Loads loads = new Loads(mode)) {
      loads.during(
          STALL,
          () -> {
            for (int i = 0; i < 4; i++) {
              testbed.cutConnections(server);
              RealTime.pass(Duration.ofMillis(700));
            }
          });
      loads.during(
          mode.longestOutage().plus(STALL),
          () -> {
            testbed.setBlocked(server, true);
            RealTime.pass(OUTAGE);
            testbed.setBlocked(server, false);
          });
      loads.stopAndCheck();
    }
  }

  @ParameterizedTest
  @EnumSource
  void survivesFrozenServer(Mode mode) throws IOException, InterruptedException {
    for (String address :
        mode == Mode.DIRECT
            ? List.of(members("one").get(0), mode.victim())
            : List.of(mode.victim())) {
      ServerProcess server = process(address);
      try (Loads loads = new Loads(mode)) {
        loads.during(
            mode.longestFreeze().plus(STALL),
            () -> {
              server.freeze();
              try {
                RealTime.pass(OUTAGE);
              } finally {
                server.resume();
              }
            });
        loads.stopAndCheck();
      }
    }
  }

  @Test
  void selectionTimesOutAndListsMongoses() {
    reset();
    try (OneHop router = Mode.TARGETED.router("&serverSelectionTimeoutMS=2000")) {
      List<Client> clients = clients(router);
      try {
        clients.forEach(client -> assertThat(client.find(1)).isTrue());
        testbed.mongosAddresses().forEach(each -> testbed.setBlocked(each, true));
        for (Client client : clients) {
          await()
              .atMost(TIMEOUT)
              .untilAsserted(
                  () ->
                      assertThat(catchThrowable(() -> client.find(1)))
                          .isInstanceOf(MongoTimeoutException.class)
                          .satisfies(
                              e -> assertThat(e.getMessage()).contains(testbed.mongosAddresses())));
        }
        testbed.mongosAddresses().forEach(each -> testbed.setBlocked(each, false));
        clients.forEach(
            client ->
                await()
                    .atMost(TIMEOUT)
                    .ignoreExceptionsInstanceOf(MongoTimeoutException.class)
                    .until(() -> client.find(1)));
      } finally {
        testbed.mongosAddresses().forEach(each -> testbed.setBlocked(each, false));
        clients.forEach(Client::close);
      }
    }
  }

  /** Deletes all documents, and inserts the counters again. */
  private static void reset() {
    MongoCollection<Document> collection = stored();
    collection.deleteMany(new Document());
    collection.insertMany(
        IntStream.range(0, COUNTERS).mapToObj(i -> new Document("_id", i)).toList());
  }

  private static MongoCollection<Document> stored() {
    return plain
        .getDatabase("it")
        .getCollection(COLLECTION)
        .withWriteConcern(WriteConcern.MAJORITY);
  }

  /** One driver's client. */
  private interface Client extends AutoCloseable {
    void insert(int id);

    void increment(int id);

    boolean find(int id);

    @Override
    void close();
  }

  private static final Bson INCREMENT = Updates.inc("n", 1);

  private static List<Client> clients(OneHop router) {
    return List.of(
        new Blocking(MongoClients.create(router.syncClientSettings())),
        new Reactive(
            com.mongodb.reactivestreams.client.MongoClients.create(router.clientSettings())));
  }

  private record Blocking(MongoClient client) implements Client {
    private MongoCollection<Document> collection() {
      return client
          .getDatabase("it")
          .getCollection(COLLECTION)
          .withWriteConcern(WriteConcern.MAJORITY);
    }

    @Override
    public void insert(int id) {
      collection().insertOne(new Document("_id", id));
    }

    @Override
    public void increment(int id) {
      assertThat(collection().updateOne(Filters.eq(id), INCREMENT).getModifiedCount()).isOne();
    }

    @Override
    public boolean find(int id) {
      return collection().find(Filters.eq(id)).first() != null;
    }

    @Override
    public void close() {
      client.close();
    }
  }

  private record Reactive(com.mongodb.reactivestreams.client.MongoClient client) implements Client {
    private com.mongodb.reactivestreams.client.MongoCollection<Document> collection() {
      return client
          .getDatabase("it")
          .getCollection(COLLECTION)
          .withWriteConcern(WriteConcern.MAJORITY);
    }

    @Override
    public void insert(int id) {
      Mono.from(collection().insertOne(new Document("_id", id))).block(TIMEOUT);
    }

    @Override
    public void increment(int id) {
      assertThat(
              Mono.from(collection().updateOne(Filters.eq(id), INCREMENT))
                  .block(TIMEOUT)
                  .getModifiedCount())
          .isOne();
    }

    @Override
    public boolean find(int id) {
      return Mono.from(collection().find(Filters.eq(id)).first()).block(TIMEOUT) != null;
    }

    @Override
    public void close() {
      client.close();
    }
  }

  private interface Step {
    void run() throws IOException, InterruptedException;
  }

  /** Clients of both drivers that use one router, and the results of their operations. */
  private static final class Loads implements AutoCloseable {
    private final OneHop router;
    private final List<Client> clients;
    private final List<Thread> threads = new ArrayList<>();
    private final AtomicIntegerArray increments = new AtomicIntegerArray(COUNTERS);
    private final Set<Integer> inserted = ConcurrentHashMap.newKeySet();
    private final AtomicInteger nextInsert = new AtomicInteger(FIRST_INSERT);
    private final Queue<Throwable> failures = new ConcurrentLinkedQueue<>();
    private final Map<String, AtomicLong> slowestNanos = new ConcurrentHashMap<>();
    private final AtomicLongArray operations = new AtomicLongArray(2 * THREADS);
    private final AtomicBoolean stopped = new AtomicBoolean();

    Loads(Mode mode) {
      reset();
      this.router = mode.router("");
      this.clients = clients(router);
      for (Client client : clients) {
        client.find(1);
        for (int i = 0; i < THREADS; i++) {
          int number = threads.size();
          Thread thread = new Thread(() -> work(client, number), "load-" + number);
          thread.setDaemon(true);
          threads.add(thread);
          thread.start();
        }
      }
      awaitEachThread();
      slowestNanos.clear();
    }

    /** Waits until each thread has ended its current operation and some further ones. */
    private void awaitEachThread() {
      long[] before = IntStream.range(0, threads.size()).mapToLong(operations::get).toArray();
      await()
          .atMost(TIMEOUT)
          .until(
              () ->
                  IntStream.range(0, before.length)
                      .allMatch(i -> operations.get(i) >= before[i] + 20));
    }

    private void work(Client client, int number) {
      while (!stopped.get()) {
        long start = System.nanoTime();
        try {
          operate(client);
        } catch (RuntimeException | AssertionError e) {
          failures.add(e);
        }
        long took = System.nanoTime() - start;
        var unused =
            slowestNanos
                .computeIfAbsent(client.getClass().getSimpleName(), each -> new AtomicLong())
                .accumulateAndGet(took, Math::max);
        operations.incrementAndGet(number);
      }
    }

    private void operate(Client client) {
      int counter = ThreadLocalRandom.current().nextInt(COUNTERS);
      switch (ThreadLocalRandom.current().nextInt(3)) {
        case 0 -> {
          // On either shard.
          int id = nextInsert.incrementAndGet();
          int signed = id % 2 == 0 ? id : -id;
          client.insert(signed);
          inserted.add(signed);
        }
        case 1 -> {
          client.increment(counter);
          increments.incrementAndGet(counter);
        }
        default -> assertThat(client.find(counter)).isTrue();
      }
    }

    /** Runs a step and checks that no operation takes longer than {@code longest} during it. */
    void during(Duration longest, Step step) throws IOException, InterruptedException {
      slowestNanos.clear();
      step.run();
      awaitEachThread();
      Map<String, Duration> slowest = new TreeMap<>();
      slowestNanos.forEach((client, nanos) -> slowest.put(client, Duration.ofNanos(nanos.get())));
      System.err.printf("the slowest operations took %s, at most %s%n", slowest, longest);
      assertThat(failures).isEmpty();
      assertThat(slowest).hasSize(clients.size());
      assertThat(slowest.values()).allSatisfy(each -> assertThat(each).isLessThan(longest));
    }

    void stopAndCheck() throws InterruptedException {
      stopped.set(true);
      for (Thread thread : threads) {
        thread.join(TIMEOUT.toMillis());
        assertThat(thread.isAlive()).isFalse();
      }
      assertThat(failures).isEmpty();
      Collection<Integer> ids = new ArrayList<>();
      Map<Integer, Integer> counted = new TreeMap<>();
      // Reads everything in one batch, so no getMore is needed. If a connection is lost, the driver
      // retries a find, but not a getMore.
      for (Document each : stored().find().batchSize(ONE_BATCH)) {
        int id = each.getInteger("_id");
        if (id >= 0 && id < COUNTERS) {
          counted.put(id, each.getInteger("n", 0));
        } else {
          ids.add(id);
        }
      }
      assertThat(ids).containsExactlyInAnyOrderElementsOf(inserted);
      assertThat(counted).hasSize(COUNTERS);
      counted.forEach((id, n) -> assertThat(n).as("counter %d", id).isEqualTo(increments.get(id)));
      System.err.printf("operations by thread: %s%n", operations);
    }

    @Override
    public void close() {
      stopped.set(true);
      clients.forEach(Client::close);
      router.close();
    }
  }
}
