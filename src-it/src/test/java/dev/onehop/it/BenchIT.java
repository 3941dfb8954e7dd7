package dev.onehop.it;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.onehop.cli.OneHopCommand;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.assertj.core.data.Offset;
import org.assertj.core.data.Percentage;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

/** A short run of the bench on real servers, and the format of its results. */
@Tag("alone")
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Tag("full")
class BenchIT {

  private static final int RECORDS = 600;

  private Path out;
  private int exitCode;
  private String printed = "";
  private JsonNode results;

  @BeforeAll
  void run(@TempDir Path folder) throws Exception {
    // The script bin/onehop sets the home folder. This test does not use the script, so it sets the
    // folder itself: the parent of src-it, where the tests run.
    System.setProperty("onehop.home", Path.of("..").toRealPath().toString());
    out = folder.resolve("run");
    StringWriter stdout = new StringWriter();
    exitCode =
        OneHopCommand.commandLine()
            .setOut(new PrintWriter(stdout))
            .execute(
                "bench",
                "--topology",
                "single-host",
                "--threads",
                "2,8",
                "--duration",
                "2s",
                // A short warm-up is enough, because the test does not check speeds.
                "--warmup",
                "1s",
                "--records",
                String.valueOf(RECORDS),
                "--quick",
                "--out",
                out.toString());
    printed = stdout.toString();
    results = new ObjectMapper().readTree(out.resolve("results.json").toFile());
  }

  private List<JsonNode> points() {
    List<JsonNode> points = new ArrayList<>();
    results.path("points").forEach(points::add);
    return points;
  }

  @Test
  void runsEveryPlannedPointWithoutErrors() {
    assertThat(exitCode).isZero();
    // Four modes at two thread counts are 8 points. Two modes are also pipelined (4 points). Two
    // modes also have a pool of 100 at the larger count (2 points).
    assertThat(points()).hasSize(14);
    for (JsonNode point : points()) {
      assertThat(point.path("errors").asLong()).isZero();
      assertThat(point.path("operations").asLong()).isPositive();
      assertThat(point.path("seconds").asDouble()).isBetween(1.0, 10.0);
    }
    assertThat(results.path("run").path("complete").asBoolean()).isTrue();
  }

  @Test
  void resultsHaveDocumentedFields() {
    assertThat(results.path("topology").path("name").asText()).isEqualTo("single-host");
    assertThat(results.path("topology").path("regions").isArray()).isTrue();
    assertThat(results.path("topology").path("rttMillis").has("configured")).isTrue();
    assertThat(results.path("topology").path("rttMillis").has("measured")).isTrue();
    assertThat(results.path("server").path("mongod").asText()).matches("\\d+\\.\\d+\\.\\d+.*");
    assertThat(results.path("server").path("router").path("kind").asText())
        .isIn("mongos", "stand-in");
    for (JsonNode point : points()) {
      for (String field :
          List.of(
              "mode",
              "threads",
              "connections",
              "pipelining",
              "limit",
              "throughput",
              "share",
              "besideOwner",
              "read",
              "update")) {
        assertThat(point.has(field)).as(field).isTrue();
      }
      for (String field : List.of("count", "mean", "p50", "p95", "p99", "p999", "max")) {
        assertThat(point.path("read").path(field).isNumber()).as(field).isTrue();
      }
    }
  }

  @Test
  void percentilesAndThroughputMatchOperationCounts() {
    for (JsonNode point : points()) {
      long operations = point.path("operations").asLong();
      long measured =
          point.path("read").path("count").asLong() + point.path("update").path("count").asLong();
      assertThat(measured).isEqualTo(operations);
      assertThat(point.path("throughput").asDouble() * point.path("seconds").asDouble())
          .isCloseTo((double) operations, Percentage.withPercentage(0.1));
      assertThat(point.path("read").path("p50").asLong())
          .isLessThanOrEqualTo(point.path("read").path("p99").asLong());
    }
  }

  @Test
  void sharesOfAllShardsAddUpToOne() {
    for (JsonNode point : points()) {
      double sum = 0;
      assertThat(point.path("share").size()).isEqualTo(3);
      for (JsonNode share : point.path("share")) {
        assertThat(share.asDouble()).isBetween(0.05, 0.9);
        sum += share.asDouble();
      }
      assertThat(sum).isCloseTo(1, Offset.offset(1e-6));
      // On one host, every mongos is near every shard. The share besideOwner comes from the
      // servers' profilers.
      if (point.path("mode").asText().equals("direct-async")) {
        assertThat(point.path("besideOwner").isNull()).isTrue();
      } else {
        assertThat(point.path("besideOwner").asDouble()).isEqualTo(1);
      }
      assertThat(point.path("besideOwnerSample").asLong()).isPositive();
      for (String part : List.of("client", "routers", "mongods", "links")) {
        assertThat(point.path("cpu").path(part).isNumber()).as("%s", point).isTrue();
      }
      assertThat(point.path("cpu").path("client").asDouble()).isPositive();
    }
  }

  @Test
  void documentsAreSpreadEquallyOverOwners() {
    JsonNode placement = results.path("run").path("placement");
    assertThat(placement.path("misplaced").asLong()).isZero();
    assertThat(placement.path("documents").size()).isEqualTo(3);
    for (JsonNode documents : placement.path("documents")) {
      assertThat(documents.asLong()).isEqualTo(RECORDS / 3);
    }
  }

  @Test
  void writesLogsAndReportNextToResults() throws Exception {
    for (JsonNode point : points()) {
      Path logs = out.resolve(point.path("folder").asText());
      assertThat(logs.resolve("hdr-READ.hdr")).isNotEmptyFile();
      assertThat(logs.resolve("ycsb.out")).content().contains("[OVERALL], Throughput(ops/sec)");
      assertThat(logs.resolve("ycsb.err")).content().contains("operations;");
    }
    assertThat(Files.readString(out.resolve("report.html")))
        .contains("OneHop bench: single-host", "READ latency by percentile at 8 threads");
  }

  @Test
  void resultsHaveConditionsOfEachPoint() {
    assertThat(results.path("run").path("seed").isNumber()).isTrue();
    assertThat(results.path("run").path("processors").asText()).contains("processors");
    for (JsonNode point : points()) {
      JsonNode conditions = point.path("conditions");
      assertThat(conditions.path("steal").isNumber()).as("%s", point).isTrue();
      assertThat(conditions.path("runQueue").asDouble()).isPositive();
      assertThat(conditions.path("sockets").asInt()).isPositive();
      assertThat(conditions.path("warmupSeconds").asDouble()).isEqualTo(1);
      assertThat(conditions.path("steady").isNull()).as("a fixed warm-up").isTrue();
    }
    assertThat(results.path("ratios").size()).isEqualTo(14 - 2);
    assertThat(results.path("ratios").path(0).path("claim").asText()).isEqualTo("TOO_FEW_ROUNDS");
  }

  @Test
  void rateRunCountsAllIntendedOperations(@TempDir Path folder) throws Exception {
    Path rates = folder.resolve("rates");
    int exit =
        OneHopCommand.commandLine()
            .setOut(new PrintWriter(new StringWriter()))
            .execute(
                "bench",
                "--topology",
                "single-host",
                "--rate",
                "100",
                "--modes",
                "targeted-async",
                "--duration",
                "2s",
                "--warmup",
                "1s",
                "--records",
                String.valueOf(RECORDS),
                "--quick",
                "--out",
                rates.toString());

    assertThat(exit).isZero();
    JsonNode json = new ObjectMapper().readTree(rates.resolve("results.json").toFile());
    assertThat(json.path("points")).isEmpty();
    assertThat(json.path("scenarios")).hasSize(2);
    for (JsonNode entry : json.path("scenarios")) {
      assertThat(entry.path("scenario").asText()).isEqualTo("rate");
      assertThat(entry.path("phase").asText()).isEqualTo("all");
      assertThat(entry.path("shards").asText()).isEqualTo("all");
      assertThat(entry.path("intended").asLong()).isEqualTo(200);
      assertThat(entry.path("completed").asLong() + entry.path("errors").asLong()).isEqualTo(200);
      assertThat(entry.path("latency").path("p90").isNumber()).isTrue();
      assertThat(entry.path("service").path("p99").isNumber()).isTrue();
    }
  }

  @Test
  void tableShowsKindOfRouters() {
    String kind = results.path("server").path("router").path("kind").asText();
    assertThat(printed)
        .contains("targeted-async", kind.equals("mongos") ? "mongos" : "STAND-IN routers");
  }
}
