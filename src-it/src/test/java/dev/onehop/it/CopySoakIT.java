package dev.onehop.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.mongodb.MongoException;
import com.mongodb.WriteConcern;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.model.Filters;
import com.mongodb.client.model.Updates;
import dev.onehop.copy.ClusterCopy;
import dev.onehop.copy.CopyControl;
import dev.onehop.copy.progress.CopyPhase;
import dev.onehop.copy.verify.ClusterVerification;
import dev.onehop.copy.verify.VerifyReport;
import dev.onehop.testbed.Testbed;
import dev.onehop.testbed.topology.Topology;
import dev.onehop.wire.RealTime;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonString;
import org.bson.Document;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A copy whose process is killed again and again, in all phases. Applications write to the source,
 * ranges move at both ends, and both ends elect other primaries. One collection of the source is
 * resharded, and an unsharded collection gets another primary shard. At the end, the verifier finds
 * both ends equal.
 *
 * <p>The values before a release are {@code -Donehop.it.copy.soak.kills=20}, {@code .seconds=600}
 * (the time during which changes are applied) and {@code .members=3}. {@code .seed} repeats the
 * random choices.
 */
@Tag("alone")
@Tag("nightly")
class CopySoakIT {
  private static final int KILLS = Integer.getInteger("onehop.it.copy.soak.kills", 2);
  private static final int SECONDS = Integer.getInteger("onehop.it.copy.soak.seconds", 4);
  private static final int MEMBERS = Integer.getInteger("onehop.it.copy.soak.members", 2);
  private static final int DOCUMENTS = Integer.getInteger("onehop.it.copy.soak.documents", 6_000);
  private static final long SEED = Long.getLong("onehop.it.copy.soak.seed", System.nanoTime());
  private static final Duration TIMEOUT = Duration.ofMinutes(5);
  private static final String DATABASE = "soak";
  private static final String WRITTEN = DATABASE + ".written";
  private static final String LARGE = DATABASE + ".large";
  private static final int SLOTS = 60;

  private final long began = System.nanoTime();
  private Testbed source;
  private Testbed destination;
  private MongoClient from;
  private MongoClient to;

  /**
   * One shard has several members. The other shard has only one member. If this member is killed,
   * the shard is down until the member runs again.
   */
  private static Topology topology(String name, int network) {
    StringBuilder hosts = new StringBuilder();
    List<String> members = new ArrayList<>();
    for (int i = 1; i <= MEMBERS; i++) {
      members.add("a" + i);
      hosts.append("  a%d: {region: here, address: 127.66.%d.1%d}%n".formatted(i, network, i));
    }
    return Topology.parse(
        name + ".yaml",
        """
        name: %s
        regions: [here]
        hosts:
          c: {region: here, address: 127.66.%d.1}
          b1: {region: here, address: 127.66.%d.2}
        %sroundTrips:
          here <-> here: 0.4
        client: c
        configServers: [c]
        shards:
          one: [%s]
          two: [b1]
        mongos: [c]
        """
            .formatted(name, network, network, hosts, String.join(", ", members)));
  }

  @BeforeEach
  void start() {
    source = Testbed.builder(topology("soak-from", 1)).start();
    destination = Testbed.builder(topology("soak-to", 2)).start();
    from = MongoClients.create(source.url());
    to = MongoClients.create(destination.url());
  }

  @AfterEach
  void stop() {
    for (MongoClient client : new MongoClient[] {from, to}) {
      if (client != null) {
        client.close();
      }
    }
    for (Testbed testbed : new Testbed[] {source, destination}) {
      if (testbed != null) {
        testbed.close();
      }
    }
  }

  private void print(String line) {
    long seconds = Duration.ofNanos(System.nanoTime() - began).toSeconds();
    System.err.printf("SOAK %d:%02d %s%n", seconds / 60, seconds % 60, line);
  }

  private static List<BsonDocument> bounds(int chunks, int step) {
    return IntStream.range(1, chunks)
        .mapToObj(n -> new BsonDocument("_id", new BsonInt32(n * step)))
        .toList();
  }

  private void prepare() {
    source.shardCollection(
        WRITTEN,
        new BsonDocument("_id", new BsonInt32(1)),
        bounds(6, SLOTS / 6 * VersionedWrites.DOCUMENTS_PER_SLOT));
    source.shardCollection(
        LARGE, new BsonDocument("_id", new BsonInt32(1)), bounds(6, DOCUMENTS / 6));
    MongoCollection<Document> large = large();
    String text = "x".repeat(200);
    for (int first = 0; first < DOCUMENTS; first += 1_000) {
      large.insertMany(
          IntStream.range(first, Math.min(DOCUMENTS, first + 1_000))
              .mapToObj(n -> new Document("_id", n).append("n", 0).append("text", text))
              .toList());
    }
    large.createIndex(new Document("n", 1));
    home().insertOne(new Document("_id", 0));
    ClusterFaults.removeOrphansAtOnce(source);
    ClusterFaults.removeOrphansAtOnce(destination);
  }

  private MongoCollection<Document> large() {
    return from.getDatabase(DATABASE)
        .getCollection("large")
        .withWriteConcern(WriteConcern.MAJORITY);
  }

  private MongoCollection<Document> home() {
    return from.getDatabase(DATABASE).getCollection("home").withWriteConcern(WriteConcern.MAJORITY);
  }

  /**
   * No operation writes to the collections of the old primary shard during the move, as 6.0
   * requires.
   */
  private boolean movePrimary(Random random) throws InterruptedException {
    String old = PrimaryShards.of(source, DATABASE);
    String next = old.equals("one") ? "two" : "one";
    BsonDocument command =
        new BsonDocument("_shardsvrMovePrimary", new BsonString(DATABASE))
            .append("to", new BsonString(next))
            .append("writeConcern", BsonDocument.parse("{w: 'majority'}"));
    try (MongoClient config = PrimaryShards.direct(source.configServers());
        MongoClient primary = ClusterFaults.direct(StreamFaults.primary(source, old))) {
      command.append(
          "databaseVersion",
          config
              .getDatabase("config")
              .getCollection("databases", BsonDocument.class)
              .find(new Document("_id", DATABASE))
              .first()
              .getDocument("version"));
      var unused = primary.getDatabase("admin").runCommand(command);
    } catch (MongoException refused) {
      print("movePrimary was refused: " + refused.getMessage().lines().findFirst().orElse(""));
      return false;
    }
    home().insertOne(new Document("_id", random.nextLong()).append("at", next));
    return true;
  }

  /**
   * Reshards a collection to another shard key and back, while documents change. Change streams of
   * 6.0 do not report resharding.
   */
  private boolean reshard(Random random) throws InterruptedException {
    for (Object key : new Object[] {"hashed", 1}) {
      CompletableFuture<Void> done = CompletableFuture.runAsync(() -> reshardLarge(key));
      while (!done.isDone()) {
        try {
          var unused =
              large().updateOne(Filters.eq(random.nextInt(DOCUMENTS)), Updates.inc("n", 1));
        } catch (MongoException refused) {
          RealTime.pass(Duration.ofMillis(50));
        }
      }
      done.join();
    }
    return true;
  }

  /** Tries again until the resharding succeeds, because a server refuses it during a migration. */
  private void reshardLarge(Object key) {
    await()
        .atMost(TIMEOUT)
        .pollInterval(Duration.ofMillis(200))
        .ignoreExceptions()
        .until(
            () -> {
              Resharding.reshard(source, LARGE, new Document("_id", key), 6);
              return true;
            });
  }

  private Process copy(ClusterCopy.Begin begin, Path log) throws IOException {
    return CopyMain.start(source.url(), destination.url(), DATABASE, begin, true, log);
  }

  private static long term(BsonDocument status) {
    return status.getNumber("term", new BsonInt32(0)).longValue();
  }

  private static CopyPhase phase(BsonDocument status) {
    return CopyPhase.valueOf(status.getString("phase").getValue());
  }

  /** Waits until the process of this term has reached a phase, or has died. */
  private static void awaitPhase(CopyControl control, Process process, long term, CopyPhase least) {
    await()
        .atMost(TIMEOUT)
        .ignoreExceptions()
        .until(
            () -> {
              BsonDocument status = control.status();
              return !process.isAlive()
                  || (term(status) >= term && phase(status).compareTo(least) >= 0);
            });
  }

  @Test
  void clustersAreEqualAfterKillsAndFaults(@TempDir Path folder) throws Exception {
    print("-Donehop.it.copy.soak.seed=" + SEED);
    prepare();
    Path log = folder.resolve("copy.log");
    Random random = new Random(SEED);
    Duration pause = Duration.ofSeconds(10);
    ClusterFaults atSource =
        new ClusterFaults(source, from, List.of(WRITTEN, LARGE), pause)
            .with("movePrimary", this::movePrimary)
            .with("reshard", this::reshard);
    ClusterFaults atDestination =
        new ClusterFaults(destination, to, List.of(WRITTEN, LARGE), pause);
    VersionedWrites writes = new VersionedWrites(from, WRITTEN, SLOTS, SEED);
    Process process = copy(ClusterCopy.Begin.NEW, log);
    try (CopyControl control = CopyControl.connect(destination.url(), settings -> {}, DATABASE)) {
      try (writes;
          atSource;
          atDestination) {
        awaitPhase(control, process, 1, CopyPhase.STRUCTURE);
        atSource.start(SEED);
        atDestination.start(SEED + 10);
        List<CopyPhase> phases =
            List.of(CopyPhase.STRUCTURE, CopyPhase.FULL, CopyPhase.FULL, CopyPhase.INCREMENTAL);
        for (int kill = 0; kill < KILLS; kill++) {
          // Because of the 3, no kill comes in the first phase if there are only a few kills.
          CopyPhase least = phases.get((kill * phases.size() + 3) / KILLS);
          awaitPhase(control, process, kill + 1L, least);
          RealTime.pass(Duration.ofMillis(random.nextInt(2_000)));
          assertThat(process.isAlive()).as(() -> text(log)).isTrue();
          print("killed at " + control.status());
          process.destroyForcibly().waitFor();
          process = copy(ClusterCopy.Begin.RESUME, log);
        }
        awaitPhase(control, process, KILLS + 1L, CopyPhase.INCREMENTAL);
        assertThat(process.isAlive()).as(() -> text(log)).isTrue();
        RealTime.pass(Duration.ofSeconds(SECONDS));
      }
      print("%s; source: %s; destination: %s".formatted(writes, atSource, atDestination));
      control.finish();
      assertThat(process.waitFor(TIMEOUT.toMinutes(), TimeUnit.MINUTES))
          .as(() -> text(log))
          .isTrue();
    } finally {
      process.destroyForcibly();
    }
    print(Files.readAllLines(log).get(Files.readAllLines(log).size() - 1));
    assertThat(process.exitValue()).as(() -> text(log)).isZero();
    VerifyReport report =
        ClusterVerification.builder(source.url(), destination.url())
            .include(List.of(DATABASE))
            .build()
            .run();
    print(report.toString());
    assertThat(report.isEqual()).as(report.toString()).isTrue();
    assertThat(report.compared()).isGreaterThan(DOCUMENTS);
    assertThat(writes.acknowledged()).isPositive();
    assertThat(atSource.moves()).isPositive();
    assertThat(atDestination.moves()).isPositive();
  }

  private static String text(Path log) {
    try {
      return Files.readString(log);
    } catch (IOException e) {
      return e.toString();
    }
  }
}
