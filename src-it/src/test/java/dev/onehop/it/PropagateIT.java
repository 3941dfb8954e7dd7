package dev.onehop.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.onehop.cli.OneHopCommand;
import dev.onehop.measure.delivery.RowCollection;
import dev.onehop.testbed.Testbed;
import dev.onehop.testbed.topology.Topology;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonMinKey;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

/** Short runs of propagate on real servers: each write is seen once, and its time is right. */
@Tag("alone")
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Tag("full")
class PropagateIT {

  private static final Duration ADDED = Duration.ofMillis(25);
  private static final int MOST_ROUNDS = 6;
  private static final List<String> PATHS = List.of("mongos", "shards", "ordered");

  @TempDir private Path folder;
  private Testbed testbed;
  private int runs;

  /** The output of a command and its files. */
  private record CommandResult(
      int exitCode, String stdout, String stderr, JsonNode results, Path out) {
    JsonNode measurement(String name, String path) {
      for (JsonNode each : results.path("measurements")) {
        if (each.path("name").asText().equals(name) && each.path("path").asText().equals(path)) {
          return each;
        }
      }
      throw new AssertionError("no " + name + " by " + path + " in " + results);
    }
  }

  @BeforeAll
  void start() throws Exception {
    System.setProperty("onehop.home", Path.of("..").toRealPath().toString());
    testbed =
        Testbed.builder(NearShards.topology("propagate", 62, 2))
            .withWaitingStreams(true)
            .noopSeconds(1)
            .start();
    testbed.shardCollection(
        "ycsb.onehop_propagate",
        new BsonDocument("_id", new BsonInt32(1)),
        RowCollection.bounds(4).stream().map(id -> new BsonDocument("_id", id)).toList());
  }

  @AfterAll
  void stop() {
    if (testbed != null) {
      testbed.close();
    }
  }

  private CommandResult run(String... options) throws Exception {
    return run(testbed, options);
  }

  private CommandResult run(Testbed cluster, String... options) throws Exception {
    Path out = folder.resolve("run-" + runs++);
    List<String> command =
        new ArrayList<>(List.of("propagate", "--url", cluster.url(), "--out", out.toString()));
    command.addAll(List.of(options));
    command.add("--overwrite");
    StringWriter stdout = new StringWriter();
    StringWriter stderr = new StringWriter();
    int exitCode =
        OneHopCommand.commandLine()
            .setOut(new PrintWriter(stdout))
            .setErr(new PrintWriter(stderr))
            .execute(command.toArray(String[]::new));
    Path file = out.resolve("results.json");
    return new CommandResult(
        exitCode,
        stdout.toString(),
        stderr.toString(),
        Files.exists(file)
            ? new ObjectMapper().readTree(file.toFile())
            : new ObjectMapper().createObjectNode(),
        out);
  }

  @Test
  void eachMeasurementSeesEachDocumentOnce() throws Exception {
    CommandResult result =
        run("--tests=2", "--documents=60", "--batch=20", "--clients=2", "--duration=1s");

    assertThat(result.stderr()).isEmpty();
    assertThat(result.exitCode()).isZero();
    assertThat(result.results().path("run").path("complete").asBoolean()).isTrue();
    for (String name :
        List.of(
            "client-to-client",
            "mongo-to-client",
            "client-to-mongo",
            "bootstrap",
            "initial-sync",
            "load")) {
      for (String path : PATHS) {
        JsonNode each = result.measurement(name, path);
        assertThat(each.path("lost").asLong()).as("lost, %s", each).isZero();
        assertThat(each.path("doubled").asLong()).as("doubled, %s", each).isZero();
        assertThat(each.path("latency").path("p50").asLong()).as("%s", each).isPositive();
        assertThat(result.out().resolve(each.path("folder").asText()))
            .isDirectoryContaining("glob:**/" + path + "-latency.hlog");
      }
    }
    assertThat(
            result
                .measurement("client-to-client", "ordered")
                .path("latency")
                .path("count")
                .asLong())
        .isEqualTo(2 * 60);
    assertThat(
            result.measurement("client-to-client", "ordered").path("test").path("count").asLong())
        .isEqualTo(2);
    assertThat(result.measurement("bootstrap", "shards").path("latency").path("count").asLong())
        .isEqualTo(2);
    assertThat(result.measurement("load", "mongos").path("processes").asInt()).isEqualTo(2);
    assertThat(
            result
                .measurement("client-to-mongo", "majority")
                .path("latency")
                .path("count")
                .asLong())
        .isPositive();
    JsonNode streams = result.results().path("streams");
    assertThat(streams.path("noopSeconds").path("one").asDouble()).isEqualTo(1);
    assertThat(streams.path("noopSeconds").path("config").asDouble()).isPositive();
    assertThat(streams.path("awaitMillis").asLong()).isEqualTo(1_000);
    assertThat(result.stdout()).contains("mongos", "shards", "ordered", "seen p50", "Await time");
    assertThat(Files.readString(result.out().resolve("report.html"))).contains("OneHop propagate");
  }

  @Test
  void measuresShardWithSeveralMembers() throws Exception {
    Topology topology =
        Topology.parse(
            "propagate-members.yaml",
            """
            name: propagate-members
            regions: [here]
            hosts:
              a: {region: here, address: 127.62.1.1}
              b: {region: here, address: 127.62.1.2}
            roundTrips:
              here <-> here: 0
            client: a
            configServers: [a]
            shards:
              one: [a, b]
            mongos: [a]
            """);
    try (Testbed members = Testbed.builder(topology).noopSeconds(1).start()) {
      CommandResult result =
          run(
              members,
              "--measure=client-to-client",
              "--tests=1",
              "--documents=20",
              "--batch=10",
              "--await=100ms");

      assertThat(result.stderr()).isEmpty();
      assertThat(result.exitCode()).isZero();
      JsonNode noops = result.results().path("streams").path("noopSeconds");
      assertThat(noops.path("one").asDouble()).isEqualTo(1);
      assertThat(noops.path("config").asDouble()).isPositive();
    }
  }

  /**
   * A mongos returns an event only when each idle shard has reported a later time. OneHop's streams
   * make idle shards report it soon.
   */
  @Tag("nightly")
  @Test
  void orderedStreamsDoNotWaitForIdleServers() throws Exception {
    CommandResult result =
        run("--measure=client-to-client", "--tests=2", "--documents=20", "--batch=1", "--rate=20");

    long mongos =
        result.measurement("client-to-client", "mongos").path("latency").path("p50").asLong();
    long ordered =
        result.measurement("client-to-client", "ordered").path("latency").path("p50").asLong();
    assertThat(mongos).isGreaterThan(200_000);
    assertThat(ordered).isLessThan(mongos / 4);
  }

  /** Other work on the machine may disturb some rounds, so one correct round is enough. */
  @Tag("nightly")
  @Test
  void measuresAddedDelay() throws Exception {
    List<String> shards =
        testbed.shardHosts().values().stream().map(set -> set.replaceAll(".*/", "")).toList();
    List<Long> added = new ArrayList<>();
    for (int round = 0; round < MOST_ROUNDS && added.stream().noneMatch(this::isRight); round++) {
      long baseline = medianOfSingleWrites();
      shards.forEach(shard -> testbed.setFurther(shard, ADDED));
      try {
        added.add(medianOfSingleWrites() - baseline);
      } finally {
        shards.forEach(shard -> testbed.setFurther(shard, Duration.ZERO));
      }
    }

    assertThat(added).as("by how many µs later writes were seen").anyMatch(this::isRight);
  }

  private boolean isRight(long micros) {
    return Math.abs(micros - ADDED.toNanos() / 1_000) <= 1_000;
  }

  private long medianOfSingleWrites() throws Exception {
    return run(
            "--measure=mongo-to-client",
            "--tests=1",
            "--documents=40",
            "--batch=1",
            "--rate=15",
            "--await=100ms")
        .measurement("mongo-to-client", "shards")
        .at("/latency/p50")
        .asLong();
  }

  @Test
  void discardsMeasurementDuringMigration() throws Exception {
    ByteArrayOutputStream shown = new ByteArrayOutputStream();
    PrintStream before = System.err;
    System.setErr(new PrintStream(shown, true, StandardCharsets.UTF_8));
    try {
      CompletableFuture<CommandResult> running =
          CompletableFuture.supplyAsync(
              () -> {
                try {
                  return run(
                      "--measure=mongo-to-client", "--tests=6", "--documents=20", "--batch=10");
                } catch (Exception e) {
                  throw new CompletionException(e);
                }
              });
      await()
          .pollInterval(Duration.ofMillis(20))
          .atMost(Duration.ofMinutes(2))
          .until(
              () -> {
                assertThat(running).isNotDone();
                return shown.toString(StandardCharsets.UTF_8).contains("Warm-up completed");
              });
      // The chunk is on shard one or two, so at least one of these calls moves it. It may end on
      // its first shard. So propagate must notice the migrations, and not only compare the owners.
      BsonDocument min = new BsonDocument("_id", new BsonMinKey());
      testbed.moveRange("ycsb.onehop_propagate", min, "two");
      testbed.moveRange("ycsb.onehop_propagate", min, "one");

      CommandResult result = running.get();
      assertThat(result.stderr()).isEmpty();
      assertThat(shown.toString(StandardCharsets.UTF_8))
          .contains("changed during this measurement, so it does not count")
          .containsPattern("(?s)Warm-up completed.*Warm-up completed");
      JsonNode counted = result.measurement("mongo-to-client", "ordered");
      assertThat(counted.at("/latency/count").asLong()).isEqualTo(6 * 20);
      assertThat(result.results().path("measurements")).hasSize(3);
    } finally {
      System.setErr(before);
    }
  }
}
