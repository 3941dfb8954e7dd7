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
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

/** A short run of consume on real servers. From each source, every row comes once and in order. */
@Tag("alone")
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Tag("full")
class ConsumeIT {

  private Path out;
  private int exitCode;
  private String printed = "";
  private String errorOutput = "";
  private JsonNode results;

  @BeforeAll
  void run(@TempDir Path folder) throws Exception {
    System.setProperty("onehop.home", Path.of("..").toRealPath().toString());
    out = folder.resolve("run");
    StringWriter stdout = new StringWriter();
    StringWriter stderr = new StringWriter();
    exitCode =
        OneHopCommand.commandLine()
            .setOut(new PrintWriter(stdout))
            .setErr(new PrintWriter(stderr))
            .execute(
                "bench",
                "consume",
                "--measure",
                "drain,live,idle-shard",
                "--channels",
                "8",
                "--processes",
                "2",
                "--rows",
                "5000",
                "--rate",
                "500",
                "--warmup",
                "1s",
                "--duration",
                "2s",
                "--out",
                out.toString());
    printed = stdout.toString();
    errorOutput = stderr.toString();
    results = new ObjectMapper().readTree(out.resolve("results.json").toFile());
  }

  private List<JsonNode> points(String kind) {
    List<JsonNode> points = new ArrayList<>();
    results
        .path("points")
        .forEach(
            point -> {
              if (point.path("kind").asText().equals(kind)) {
                points.add(point);
              }
            });
    return points;
  }

  @Test
  void receivesEveryRowOnceAndInOrder() {
    assertThat(errorOutput).isEmpty();
    assertThat(exitCode).isZero();
    assertThat(results.path("run").path("complete").asBoolean()).isTrue();
    assertThat(points("drain")).hasSize(2);
    assertThat(points("live")).hasSize(2);
    assertThat(points("idle-shard")).hasSize(2);
    for (JsonNode point : results.path("points")) {
      assertThat(point.path("rows").asLong()).isPositive();
      assertThat(point.path("lost").asLong()).isZero();
      assertThat(point.path("doubled").asLong()).isZero();
      assertThat(point.path("outOfOrder").asLong()).isZero();
      assertThat(point.path("cores").asDouble()).isPositive();
      assertThat(point.path("memoryBytes").asLong()).isPositive();
    }
    points("drain").forEach(point -> assertThat(point.path("rows").asLong()).isEqualTo(5_000));
  }

  @Test
  void lagsAreOfMeasuredRows() {
    for (String kind : List.of("live", "idle-shard")) {
      for (JsonNode point : points(kind)) {
        assertThat(point.path("lag").path("count").asLong())
            .isBetween(1L, point.path("rows").asLong());
        assertThat(point.path("lag").path("p50").asLong()).isPositive();
        assertThat(point.path("sinceIssued").path("count").asLong())
            .isEqualTo(point.path("lag").path("count").asLong());
      }
    }
  }

  @Test
  void writesTableAndReport() throws Exception {
    assertThat(printed).contains("rows/s/core", "Results: ", "Report: ");
    assertThat(Files.readString(out.resolve("report.html")))
        .contains("OneHop consume: single-host");
    assertThat(out.resolve("points/live-direct-008/hdr-LAG.hdr")).isNotEmptyFile();
    assertThat(out.resolve("points/live-direct-008/consumer-0/seen")).doesNotExist();
  }
}
