package dev.onehop.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.client.MongoCollection;
import dev.onehop.testbed.ProcessFailure;
import dev.onehop.testbed.RunningTestbed;
import dev.onehop.testbed.Testbed;
import dev.onehop.testbed.TestbedException;
import dev.onehop.testbed.evidence.OperationCounts;
import dev.onehop.testbed.evidence.Placement;
import dev.onehop.testbed.evidence.RouterSampling;
import dev.onehop.testbed.topology.Topology;
import dev.onehop.wire.RealTime;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonString;
import org.bson.Document;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Real servers form a cluster, which places data as requested and leaves nothing behind. */
@Tag("nightly")
class ClusterFormationIT {
  private static final BsonDocument BY_ID = new BsonDocument("_id", new BsonInt32(1));

  private static final String THREE_SHARDS =
      """
      name: it-formation
      regions: [east, west]
      roundTrips:
        east <-> east: 0.5
        east <-> west: 4
      hosts:
        e1: {region: east, address: 127.61.1.1}
        e2: {region: east, address: 127.61.1.2}
        w1: {region: west, address: 127.61.2.1}
      client: e1
      configServers: [e1]
      shards:
        s-e1: [e1]
        s-e2: [e2]
        s-w1: [w1]
      mongos: [e1, w1]
      """;

  private static final String ONE_SHARD =
      """
      name: it-small
      regions: [here]
      hosts:
        h1: {region: here, address: 127.62.1.1}
      client: h1
      configServers: [h1]
      shards: {s1: [h1]}
      mongos: [h1]
      """;

  private static Testbed testbed;

  @BeforeAll
  static void start() {
    testbed = Testbed.builder(Topology.parse("it.yaml", THREE_SHARDS)).start();
  }

  @AfterAll
  static void stop() {
    if (testbed != null) {
      testbed.close();
    }
  }

  @Test
  void metadataListsEveryServer() {
    try (MongoClient config = replicaSet(testbed.configServers())) {
      Map<String, String> shards = new TreeMap<>();
      config
          .getDatabase("config")
          .getCollection("shards")
          .find()
          .forEach(shard -> shards.put(shard.getString("_id"), shard.getString("host")));
      assertThat(shards)
          .containsExactlyEntriesOf(
              new TreeMap<>(
                  Map.of(
                      "s-e1", "s-e1/127.61.1.1:27018",
                      "s-e2", "s-e2/127.61.1.2:27018",
                      "s-w1", "s-w1/127.61.2.1:27018")));
      List<String> routers = new ArrayList<>();
      config
          .getDatabase("config")
          .getCollection("mongos")
          .find()
          .forEach(router -> routers.add(router.getString("_id")));
      assertThat(routers).containsExactlyInAnyOrder("127.61.1.1:27017", "127.61.2.1:27017");
      Document balancer =
          config
              .getDatabase("config")
              .getCollection("settings")
              .find(new Document("_id", "balancer"))
              .first();
      assertThat(balancer).containsEntry("mode", "off");
    }
    assertThat(testbed.server().mongodVersion()).startsWith("6.");
  }

  @Test
  void spreadsRangesEquallyAndInOrder() {
    testbed.shardCollection("it.spread", BY_ID, points(29, 10));
    assertThat(shardsOfChunks("it.spread"))
        .hasSize(30)
        .containsSubsequence("s-e1", "s-e2", "s-w1")
        .isSorted()
        .satisfies(
            shards -> {
              for (String shard : List.of("s-e1", "s-e2", "s-w1")) {
                assertThat(shards).filteredOn(shard::equals).hasSize(10);
              }
            });
    // This call requests the chunks that the collection has already, so it changes nothing.
    testbed.shardCollection("it.spread", BY_ID, points(29, 10));
    assertThat(shardsOfChunks("it.spread")).hasSize(30);
  }

  @Test
  void rangeCountsOfShardsDifferByAtMostOne() {
    testbed.shardCollection("it.uneven", BY_ID, points(4, 10));
    assertThat(shardsOfChunks("it.uneven"))
        .isSorted()
        .hasSize(5)
        .filteredOn("s-w1"::equals)
        .hasSizeBetween(1, 2);
    assertThatThrownBy(() -> testbed.shardCollection("it.few", BY_ID, points(1, 10)))
        .isInstanceOf(TestbedException.class)
        .hasMessage("1 split points make 2 ranges; 3 shards need at least one range each");
  }

  @Test
  void spreadsHashedCollectionsOverAllShards() {
    testbed.shardHashedCollection(
        "it.hashed", new BsonDocument("_id", new BsonString("hashed")), 12);
    assertThat(shardsOfChunks("it.hashed"))
        .hasSize(12)
        .containsOnly("s-e1", "s-e2", "s-w1")
        .filteredOn("s-e1"::equals)
        .hasSize(4);
  }

  @Test
  void rejectsDifferentShardKeyForSameCollection() {
    testbed.shardCollection("it.key", BY_ID, List.of());
    assertThatThrownBy(
            () ->
                testbed.shardCollection(
                    "it.key", new BsonDocument("other", new BsonInt32(1)), List.of()))
        .isInstanceOf(TestbedException.class)
        .hasMessageContaining("refused _shardsvrCreateCollection")
        .message()
        .hasLineCount(1);
  }

  @Test
  void documentsMoveWithTheirRange() {
    testbed.shardCollection("it.moving", BY_ID, points(2, 100));
    insertThroughRouter("moving", 300);
    Placement before = testbed.evidence("it.moving").placement();
    assertThat(before.isRight()).isTrue();
    assertThat(before.stored())
        .containsExactlyInAnyOrderEntriesOf(Map.of("s-e1", 100L, "s-e2", 100L, "s-w1", 100L));

    testbed.splitAt("it.moving", List.of(id(150)));
    testbed.moveRange("it.moving", id(150), "s-w1");

    assertThat(shardsOfChunks("it.moving")).containsExactly("s-e1", "s-e2", "s-w1", "s-w1");
    Awaitility.await("deletion of what has been left behind")
        .atMost(Duration.ofSeconds(60))
        .until(() -> testbed.evidence("it.moving").placement().isRight());
    assertThat(testbed.evidence("it.moving").placement().stored())
        .containsExactlyInAnyOrderEntriesOf(Map.of("s-e1", 100L, "s-e2", 50L, "s-w1", 150L));
  }

  @Test
  void reportsMisplacedDocument() {
    testbed.shardCollection("it.misplaced", BY_ID, points(2, 100));
    insertThroughRouter("misplaced", 300);
    try (MongoClient shard = replicaSet(testbed.shardHosts().get("s-w1"))) {
      shard.getDatabase("it").getCollection("misplaced").insertOne(new Document("_id", -7));
    }
    Placement placement = testbed.evidence("it.misplaced").placement();
    assertThat(placement.isRight()).isFalse();
    assertThat(placement.misplaced()).isEqualTo(1);
    assertThat(placement.documents()).isEqualTo(301);
    assertThat(placement.stored()).containsEntry("s-w1", 101L);
    assertThat(placement.owned()).containsEntry("s-w1", 100L);
    assertThat(placement.examples())
        .containsExactly("{\"_id\": -7} is on s-w1, but its owner is s-e1");
  }

  @Test
  void evidenceShowsShardAndRouterOfOperations() {
    testbed.shardCollection("it.served", BY_ID, points(2, 100));
    insertThroughRouter("served", 300);
    OperationCounts before = testbed.evidence("it.served").operationCounts();
    Map<String, Map<String, Long>> routersBefore = testbed.evidence("it.served").routerOperations();
    try (RouterSampling sampling = testbed.evidence("it.served").sampleRouters(1)) {
      // The mongos on e1 is near the owner of the ids 0 to 99, but not near the owner of the ids
      // 200 to 299.
      read("127.61.1.1:27017", 0, 40);
      assertThat(sampling.besideOwner().fraction()).hasValue(1.0);
      read("127.61.1.1:27017", 200, 240);
      assertThat(sampling.besideOwner().sampled()).isEqualTo(80);
      assertThat(sampling.besideOwner().fraction()).hasValue(0.5);
      read("127.61.2.1:27017", 240, 280);
      assertThat(sampling.besideOwner().beside()).isEqualTo(80);
      assertThat(sampling.besideOwner().sampled()).isEqualTo(120);
    }
    OperationCounts served = testbed.evidence("it.served").operationCounts().since(before);
    assertThat(served.byShard())
        .containsExactlyInAnyOrderEntriesOf(Map.of("s-e1", 40L, "s-e2", 0L, "s-w1", 80L));
    assertThat(served.shares().get("s-w1")).isEqualTo(80 / 120.0);
    Map<String, Map<String, Long>> routersAfter = testbed.evidence("it.served").routerOperations();
    assertThat(routersAfter.get("127.61.2.1:27017").get("query"))
        .isGreaterThanOrEqualTo(routersBefore.get("127.61.2.1:27017").get("query") + 40);
    // After the sampling, the profilers are off again, and their collections are dropped.
    try (MongoClient shard = replicaSet(testbed.shardHosts().get("s-e1"))) {
      assertThat(shard.getDatabase("it").runCommand(new Document("profile", -1)))
          .containsEntry("was", 0)
          .containsEntry("slowms", 100);
      assertThat(shard.getDatabase("it").listCollectionNames()).doesNotContain("system.profile");
    }
  }

  @Test
  void dropsCollectionOnEveryShard() {
    testbed.shardCollection("it.dropped", BY_ID, points(2, 100));
    insertThroughRouter("dropped", 300);
    testbed.dropCollection("it.dropped");
    testbed
        .shardHosts()
        .forEach(
            (name, hosts) -> {
              try (MongoClient shard = replicaSet(hosts)) {
                assertThat(shard.getDatabase("it").getCollection("dropped").countDocuments())
                    .describedAs(name)
                    .isZero();
              }
            });
    testbed.shardCollection("it.dropped", BY_ID, points(2, 100));
    assertThat(shardsOfChunks("it.dropped")).hasSize(3);
  }

  @Test
  void rejectsSecondRunOfSameTopology() {
    assertThatThrownBy(() -> Testbed.builder(Topology.parse("it.yaml", THREE_SHARDS)).start())
        .isInstanceOf(TestbedException.class)
        .hasMessageContaining(
            "topology it-formation is already running in process " + ProcessHandle.current().pid());
    assertThat(RunningTestbed.all())
        .filteredOn(running -> running.topologyName().equals("it-formation"))
        .singleElement()
        .satisfies(
            running -> {
              assertThat(running.isReady()).isTrue();
              assertThat(running.url()).isEqualTo("mongodb://127.61.1.1:27017");
              assertThat(running.servers()).hasSize(6).allMatch(server -> server.alive());
            });
  }

  @Test
  void startFailsIfPortIsInUse() throws IOException {
    try (ServerSocket taken =
        new ServerSocket(27018, 1, InetAddress.getByAddress(new byte[] {127, 62, 1, 1}))) {
      assertThatThrownBy(() -> small(Path.of("/tmp")).start())
          .isInstanceOf(TestbedException.class)
          .hasMessage(
              "127.62.1.1:27018 is taken by process %d (java)", ProcessHandle.current().pid());
      assertThat(taken.isClosed()).isFalse();
    }
  }

  @Test
  void setsFeatureCompatibilityVersionOnWholeCluster(@TempDir Path cache) {
    try (Testbed old = small(cache).withoutRouters().featureCompatibilityVersion("5.0").start()) {
      assertThat(old.server().featureCompatibilityVersion()).isEqualTo("5.0");
      try (MongoClient shard = replicaSet(old.shardHosts().get("s1"))) {
        Document version =
            shard
                .getDatabase("admin")
                .getCollection("system.version")
                .find(new Document("_id", "featureCompatibilityVersion"))
                .first();
        assertThat(version).containsEntry("version", "5.0");
      }
      old.shardCollection("it.old", BY_ID, points(5, 10));
    }
  }

  @Test
  void laterStartsReuseDataOfFirstStart(@TempDir Path cache) throws IOException {
    assertThat(progressLinesOfStart(cache)).contains("forming the cluster");
    assertThat(progressLinesOfStart(cache)).doesNotContain("forming the cluster");

    try (Stream<Path> files = Files.walk(cache.resolve("formed"))) {
      for (Path file : files.filter(Files::isRegularFile).toList()) {
        Files.writeString(file, "damaged");
      }
    }
    assertThat(progressLinesOfStart(cache))
        .contains("forming the cluster")
        .anyMatch(
            line ->
                line.startsWith("cannot start with the data of an earlier start: cannot start"));
    assertThat(progressLinesOfStart(cache)).doesNotContain("forming the cluster");
  }

  private static List<String> progressLinesOfStart(Path cache) {
    List<String> lines = new ArrayList<>();
    try (Testbed small = small(cache).progress(lines::add).start();
        MongoClient client = MongoClients.create(small.url());
        MongoClient config = replicaSet(small.configServers())) {
      assertThat(client.listDatabaseNames()).containsExactlyInAnyOrder("admin", "config");
      assertThat(config.getDatabase("config").getCollection("shards").countDocuments())
          .isEqualTo(small.shardHosts().size());
      assertThat(config.getDatabase("config").getCollection("settings").find())
          .anyMatch(setting -> "off".equals(setting.get("mode")));
      small.shardCollection("it.kept", BY_ID, points(2, 100));
      client.getDatabase("it").getCollection("kept").insertOne(new Document("_id", 1));
      assertThat(small.evidence("it.kept").placement().documents()).isEqualTo(1);
    }
    return lines;
  }

  @Test
  void reportsFailedMongodWithLastLogLines(@TempDir Path cache) throws Exception {
    try (Testbed small = small(cache).withoutRouters().start()) {
      CompletableFuture<ProcessFailure> death = new CompletableFuture<>();
      small.onProcessDeath(death::complete);
      long pid =
          RunningTestbed.all(cache).get(0).servers().stream()
              .filter(server -> server.name().equals("s1/h1"))
              .findFirst()
              .orElseThrow()
              .pid();
      new ProcessBuilder("kill", "-ABRT", String.valueOf(pid)).start().waitFor();
      ProcessFailure failure = death.get(30, TimeUnit.SECONDS);
      assertThat(failure.name()).isEqualTo("s1/h1");
      assertThat(failure.exitCode()).isEqualTo(128 + 6);
      assertThat(failure.lastLogLines()).isNotEmpty();
    }
  }

  @Test
  void terminatedProcessStopsAllServers(@TempDir Path cache) throws Exception {
    for (String at : List.of("starting", "forming", "ready")) {
      Process owner = startSeparateProcess(cache, at);
      owner.destroy(); // SIGTERM has the same effect as Ctrl-C
      assertThat(owner.waitFor(30, TimeUnit.SECONDS)).isTrue();
      assertThat(serversIn(cache)).describedAs("servers after ending it when " + at).isEmpty();
      assertThat(RunningTestbed.all(cache)).isEmpty();
    }
  }

  @Test
  void killedProcessStopsServersAndAllowsNextStart(@TempDir Path cache) throws Exception {
    Process owner = startSeparateProcess(cache, "ready");
    List<ProcessHandle> left = serversIn(cache);
    assertThat(left).hasSize(2);
    owner.destroyForcibly().waitFor();
    for (ProcessHandle server : left) {
      server.onExit().get(30, TimeUnit.SECONDS);
    }
    assertThat(RunningTestbed.all(cache))
        .singleElement()
        .satisfies(leftover -> assertThat(leftover.isOwned()).isFalse());

    try (Testbed next = small(cache).withoutRouters().start()) {
      next.shardCollection("it.next", BY_ID, List.of());
    }
    assertThat(serversIn(cache)).isEmpty();
  }

  @Test
  void anotherProcessCanStopTestbed(@TempDir Path cache) throws Exception {
    Process owner = startSeparateProcess(cache, "ready");
    RunningTestbed running = RunningTestbed.all(cache).get(0);
    assertThat(running.ownerPid()).isEqualTo(owner.pid());
    running.stop();
    assertThat(owner.waitFor(10, TimeUnit.SECONDS)).isTrue();
    assertThat(serversIn(cache)).isEmpty();
    assertThat(RunningTestbed.all(cache)).isEmpty();
  }

  /** Runs the small topology in a separate JVM, until that JVM is ended. */
  static final class KeepRunning {
    private KeepRunning() {}

    public static void main(String[] arguments) throws InterruptedException {
      try (Testbed running =
          small(Path.of(arguments[0])).withoutRouters().progress(System.out::println).start()) {
        System.out.println("ready: " + running.configServers());
        RealTime.pass(Duration.ofMinutes(5));
      } catch (TestbedException e) {
        System.out.println(e.getMessage()); // expected if the process ends during the start
      }
    }
  }

  private static Testbed.Builder small(Path cache) {
    return Testbed.builder(Topology.parse("small.yaml", ONE_SHARD))
        .cacheFolder(cache)
        .mongod(mongod());
  }

  /** The mongod binary that the other tests use, so that this test downloads none. */
  private static Path mongod() {
    String named = System.getProperty("it.mongod");
    if (named != null) {
      return Path.of(named);
    }
    return RunningTestbed.all().stream()
        .filter(running -> running.topologyName().equals("it-formation"))
        .flatMap(running -> running.servers().stream())
        .flatMap(server -> ProcessHandle.of(server.pid()).stream())
        .flatMap(process -> process.info().command().stream())
        .filter(command -> command.endsWith("mongod"))
        .map(Path::of)
        .findFirst()
        .orElseThrow();
  }

  /** Starts {@link KeepRunning}, and waits until its output reports the given point. */
  private static Process startSeparateProcess(Path cache, String until) throws IOException {
    Process process =
        new ProcessBuilder(
                ProcessHandle.current().info().command().orElseThrow(),
                "-Dit.mongod=" + mongod(),
                "-cp",
                System.getProperty("java.class.path"),
                KeepRunning.class.getName(),
                cache.toString())
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    BufferedReader lines =
        new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
    String line = lines.readLine();
    while (line != null && !line.startsWith(until)) {
      line = lines.readLine();
    }
    assertThat(line).describedAs("the line that says " + until).isNotNull();
    return process;
  }

  private static List<ProcessHandle> serversIn(Path cache) {
    return ProcessHandle.allProcesses()
        .filter(
            process ->
                process.info().commandLine().orElse("").contains("--dbpath " + cache.toString()))
        .toList();
  }

  private static void insertThroughRouter(String collection, int documents) {
    List<Document> batch = new ArrayList<>();
    for (int i = 0; i < documents; i++) {
      batch.add(new Document("_id", i));
    }
    try (MongoClient client = MongoClients.create(testbed.url())) {
      client.getDatabase("it").getCollection(collection).insertMany(batch);
    }
  }

  private static void read(String router, int from, int to) {
    try (MongoClient client = MongoClients.create("mongodb://" + router)) {
      MongoCollection<Document> served = client.getDatabase("it").getCollection("served");
      for (int i = from; i < to; i++) {
        assertThat(served.find(new Document("_id", i)).first()).containsEntry("_id", i);
      }
    }
  }

  /** The owners of all chunks, in the order of the chunks' ranges. */
  private static List<String> shardsOfChunks(String namespace) {
    List<String> shards = new ArrayList<>();
    try (MongoClient config = replicaSet(testbed.configServers())) {
      Document collection =
          config
              .getDatabase("config")
              .getCollection("collections")
              .find(new Document("_id", namespace))
              .first();
      config
          .getDatabase("config")
          .getCollection("chunks")
          .find(new Document("uuid", collection.get("uuid")))
          .sort(new Document("min", 1))
          .forEach(chunk -> shards.add(chunk.getString("shard")));
    }
    return shards;
  }

  private static MongoClient replicaSet(String nameAndMembers) {
    int slash = nameAndMembers.indexOf('/');
    return MongoClients.create(
        "mongodb://"
            + nameAndMembers.substring(slash + 1)
            + "/?replicaSet="
            + nameAndMembers.substring(0, slash));
  }

  private static List<BsonDocument> points(int count, int step) {
    List<BsonDocument> points = new ArrayList<>();
    for (int i = 1; i <= count; i++) {
      points.add(id(i * step));
    }
    return points;
  }

  private static BsonDocument id(int value) {
    return new BsonDocument("_id", new BsonInt32(value));
  }
}
