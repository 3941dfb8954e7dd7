package dev.onehop.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertTimeout;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import com.mongodb.client.model.Filters;
import com.mongodb.client.model.Updates;
import com.mongodb.reactivestreams.client.MongoClient;
import com.mongodb.reactivestreams.client.MongoClients;
import com.mongodb.reactivestreams.client.MongoCollection;
import dev.onehop.routing.OneHop;
import dev.onehop.routing.observation.RouteExplanation;
import dev.onehop.testbed.Testbed;
import dev.onehop.testbed.topology.Topology;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import org.bson.Document;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.reactivestreams.Publisher;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Mono;

/**
 * How OneHop finds the near mongoses of each shard: by host, by measurement or by configuration.
 * Also checks how many sockets it needs for this.
 */
@Tag("full")
class AffinityIT {
  private static final Duration TIMEOUT = Duration.ofSeconds(60);
  private static final String NAMESPACE = "it.affinity";

  /** A shard with three members. The host of each member has a mongos. */
  private static final Topology ELECTIONS =
      Topology.parse(
          "elections",
          """
          name: elections
          description: one shard with a member on each of three hosts
          regions: [here]
          roundTrips:
            here <-> here: 0
          hosts:
            e1: {region: here, address: 127.43.0.1}
            e2: {region: here, address: 127.43.0.2}
            e3: {region: here, address: 127.43.0.3}
          client: e1
          configServers: [e1]
          shards:
            shard-e: [e1, e2, e3]
          mongos: [e1, e2, e3]
          """);

  /** No mongos has the same host as a shard, so host names do not show the near mongos. */
  private static final Topology APART =
      Topology.parse(
          "apart",
          """
          name: apart
          description: two far regions, in each a shard and a mongos on another host
          regions: [va, or]
          roundTrips:
            va <-> va: 0.6
            or <-> or: 0.6
            va <-> or: 68
          hosts:
            va1: {region: va, address: 127.44.1.1}
            va2: {region: va, address: 127.44.1.2}
            or1: {region: or, address: 127.44.2.1}
            or2: {region: or, address: 127.44.2.2}
          client: va1
          configServers: [va1]
          shards:
            shard-va: [va2]
            shard-or: [or1]
          mongos: [va1, or2]
          """);

  private static final String FAR_ROUTER = "127.44.2.2:27017";

  private static Testbed testbed;

  @BeforeAll
  static void start() {
    testbed = Testbed.builder(Topology.named("us-2014")).start();
    testbed.shardCollection(NAMESPACE, Numbered.KEY, Numbered.splitAt(100, 200));
    try (MongoClient client = MongoClients.create(testbed.url())) {
      run(
          collection(client)
              .insertMany(
                  IntStream.range(0, 300)
                      .mapToObj(i -> new Document("_id", i).append("n", 0))
                      .toList()));
    }
  }

  @AfterAll
  static void stop() {
    if (testbed != null) {
      testbed.close();
    }
  }

  @Test
  void usesConfiguredShardRouters() {
    try (Testbed apart = Testbed.builder(APART).start();
        MongoClient client =
            OneHop.builder(apart.url())
                .shardRouters("shard-or", FAR_ROUTER)
                .measureRoundTrips(false)
                .client(MongoClient.class)) {
      apart.shardCollection(NAMESPACE, Numbered.KEY, Numbered.splitAt(100));
      assertFarRouterServesItsShard(apart, collection(client));
    }
  }

  @Test
  void roundTripsFindNearMongosIfHostsDiffer() {
    try (Testbed apart = Testbed.builder(APART).start();
        OneHop router = OneHop.builder(apart.url()).refreshInterval(Duration.ofSeconds(2)).build();
        MongoClient client = MongoClients.create(router.clientSettings())) {
      apart.shardCollection(NAMESPACE, Numbered.KEY, Numbered.splitAt(100));
      MongoCollection<Document> collection = collection(client);
      run(collection.find(Filters.eq(150)).first());
      // On a busy machine, a measurement may be wrong. The test waits long enough for the next one,
      // which OneHop makes after a minute.
      await()
          .atMost(TIMEOUT.multipliedBy(3))
          .untilAsserted(
              () ->
                  assertThat(explanation(router, 150).routers())
                      .singleElement()
                      .hasToString(FAR_ROUTER));
      assertFarRouterServesItsShard(apart, collection);
    }
  }

  /**
   * Checks the number in docs/application.md: two sockets for each mongos of the URI and for each
   * near mongos, in addition to the pools.
   */
  @Test
  void usesAtMostTwoSocketsPerMongosPlusPools() throws IOException {
    Set<String> before = socketsToMongoses();
    try (MongoClient client = OneHop.builder(testbed.url()).client(MongoClient.class)) {
      MongoCollection<Document> collection = collection(client);
      for (int i = 0; i < 300; i += 10) {
        run(collection.updateOne(Filters.eq(i), Updates.inc("n", 1)));
      }
      int mongoses = 4;
      int pooled = 3 + 4; // one operation at a time, and parallel reads of the metadata
      await()
          .during(Duration.ofSeconds(2))
          .atMost(TIMEOUT)
          .untilAsserted(
              () -> {
                Set<String> opened = socketsToMongoses();
                opened.removeAll(before);
                assertThat(opened.size()).isLessThanOrEqualTo(2 * mongoses + pooled);
              });
    }
  }

  @Test
  void rejectsMongosOfAnotherCluster() {
    ListAppender<ILoggingEvent> logged = new ListAppender<>();
    Logger logger = (Logger) LoggerFactory.getLogger("dev.onehop");
    logged.start();
    logger.addAppender(logged);
    try (Testbed other = Testbed.builder(Topology.named("single-host")).start();
        MongoClient client =
            OneHop.builder(
                    testbed.url() + "," + other.url().substring("mongodb://".length()) + "/?w=1")
                .client(MongoClient.class)) {
      MongoCollection<Document> collection = client.getDatabase("it").getCollection("nowhereElse");
      for (int i = 0; i < 100; i++) {
        run(collection.insertOne(new Document("_id", i)));
      }
      assertThat(run(collection.countDocuments())).isEqualTo(100);
      assertThat(run(collection(client).countDocuments())).isEqualTo(300);
      try (MongoClient there = MongoClients.create(other.url())) {
        assertThat(
                run(there.getDatabase("it").getCollection("nowhereElse").estimatedDocumentCount()))
            .isZero();
      }
      // Closing the client does not wait for the refused mongos.
      assertTimeout(Duration.ofSeconds(20), client::close);
    } finally {
      logger.detachAppender(logged);
    }
    assertThat(logged.list)
        .filteredOn(event -> event.getLevel() == Level.ERROR)
        .singleElement()
        .satisfies(
            event ->
                assertThat(event.getFormattedMessage())
                    .startsWith(
                        "127.30.0.1:27017 is a mongos of another cluster and will not be used"));
  }

  @Test
  void usesMongosNearNewPrimaryAfterElection() {
    try (Testbed elections = Testbed.builder(ELECTIONS).start();
        OneHop router = OneHop.builder(elections.url()).build();
        MongoClient client = MongoClients.create(router.clientSettings());
        MongoClient shard = MongoClients.create(replicaSetUrl(elections, "shard-e"))) {
      MongoCollection<Document> collection = collection(client);
      run(collection.insertOne(new Document("_id", 1)));
      await().atMost(TIMEOUT).until(() -> !primaryHost(shard).isEmpty());
      String before = primaryHost(shard);
      await().atMost(TIMEOUT).untilAsserted(() -> assertOnlyMongos(router, before));

      // The command can be repeated, because since 4.2 a step-down does not break the connection. A
      // server may refuse a step-down for a moment.
      await()
          .atMost(TIMEOUT)
          .ignoreExceptions()
          .until(
              () -> {
                run(
                    shard
                        .getDatabase("admin")
                        .runCommand(new Document("replSetStepDown", 120).append("force", true)));
                return true;
              });
      await()
          .atMost(TIMEOUT)
          .until(() -> !primaryHost(shard).isEmpty() && !primaryHost(shard).equals(before));
      String after = primaryHost(shard);

      await().atMost(TIMEOUT).untilAsserted(() -> assertOnlyMongos(router, after));
      assertThat(run(collection.find(Filters.eq(1)).first())).containsEntry("_id", 1);
    }
  }

  private static void assertOnlyMongos(OneHop router, String host) {
    assertThat(explanation(router, 1).routers())
        .singleElement()
        .satisfies(mongos -> assertThat(mongos.getHost()).isEqualTo(host));
  }

  private static String replicaSetUrl(Testbed testbed, String shard) {
    String hosts = testbed.shardHosts().get(shard);
    return "mongodb://%s/?replicaSet=%s"
        .formatted(hosts.substring(hosts.indexOf('/') + 1), hosts.substring(0, hosts.indexOf('/')));
  }

  private static String primaryHost(MongoClient shard) {
    return shard.getClusterDescription().getServerDescriptions().stream()
        .filter(server -> server.isPrimary())
        .map(server -> server.getAddress().getHost())
        .findFirst()
        .orElse("");
  }

  private static void assertFarRouterServesItsShard(
      Testbed apart, MongoCollection<Document> collection) {
    run(collection.insertOne(new Document("_id", 150)));
    long before = updates(apart);
    for (int i = 0; i < 50; i++) {
      assertThat(run(collection.updateOne(Filters.eq(150), Updates.inc("n", 1))).getMatchedCount())
          .isEqualTo(1);
    }
    assertThat(updates(apart) - before).isEqualTo(50);
  }

  private static long updates(Testbed apart) {
    return apart.evidence(NAMESPACE).routerOperations().get(FAR_ROUTER).get("update");
  }

  private static RouteExplanation explanation(OneHop router, int id) {
    return router.explain(NAMESPACE, Filters.eq(id));
  }

  private static MongoCollection<Document> collection(MongoClient client) {
    return client.getDatabase("it").getCollection("affinity");
  }

  private static <T> T run(Publisher<T> operation) {
    return Mono.from(operation).block(TIMEOUT);
  }

  /** The inodes of this process's sockets that are connected to port 27017 of a region's host. */
  private static Set<String> socketsToMongoses() throws IOException {
    Set<String> own = new HashSet<>();
    try (DirectoryStream<Path> descriptors = Files.newDirectoryStream(Path.of("/proc/self/fd"))) {
      for (Path descriptor : descriptors) {
        try {
          String target = Files.readSymbolicLink(descriptor).toString();
          if (target.startsWith("socket:[")) {
            own.add(target.substring("socket:[".length(), target.length() - 1));
          }
        } catch (IOException e) {
          // The descriptor was closed in the meantime.
        }
      }
    }
    Set<String> connected = new HashSet<>();
    for (String table : List.of("/proc/self/net/tcp", "/proc/self/net/tcp6")) {
      for (String line : Files.readAllLines(Path.of(table))) {
        String[] fields = line.trim().split("\\s+", -1);
        boolean established = fields.length > 9 && fields[3].equals("01");
        if (established
            && fields[2].endsWith(":" + "%04X".formatted(Topology.MONGOS_PORT))
            && own.contains(fields[9])) {
          connected.add(fields[9]);
        }
      }
    }
    return connected;
  }
}
