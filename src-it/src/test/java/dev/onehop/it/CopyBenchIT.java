package dev.onehop.it;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.onehop.cli.OneHopCommand;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Small copies of all kinds by both ways, between clusters of its own. */
@Tag("alone")
@Tag("nightly")
class CopyBenchIT {
  private static final long RECORDS = 2_000;
  private static final long CHANGES = 1_000;

  @Test
  void bothWaysCopyEverythingAndAreMeasured(@TempDir Path folder) throws Exception {
    System.setProperty("onehop.home", Path.of("..").toRealPath().toString());
    Path out = folder.resolve("run");
    StringWriter stdout = new StringWriter();
    StringWriter stderr = new StringWriter();
    int exitCode =
        OneHopCommand.commandLine()
            .setOut(new PrintWriter(stdout))
            .setErr(new PrintWriter(stderr))
            .execute(
                "copy",
                "--bench",
                "--quick",
                "--records",
                String.valueOf(RECORDS),
                "--changes",
                String.valueOf(CHANGES),
                "--in",
                "1",
                "--between",
                "sharded,replica-set",
                "--write-rate",
                "100",
                "--duration",
                "1s",
                "--out",
                out.toString());

    assertThat(stderr.toString()).isEmpty();
    assertThat(exitCode).isZero();
    assertThat(stdout.toString())
        .contains("incremental, sharded, 1 collection: OneHop has", "lag p50", "Report: ");
    assertThat(out.resolve("report.html")).exists();

    JsonNode results = new ObjectMapper().readTree(out.resolve("results.json").toFile());
    assertThat(results.path("run").path("complete").asBoolean()).isTrue();
    List<String> copies = new ArrayList<>();
    for (JsonNode run : results.path("runs")) {
      String kind = run.path("kind").asText();
      copies.add(kind + ", " + run.path("setup").asText() + ", " + run.path("way").asText());
      assertThat(run.path("equal").asBoolean()).isTrue();
      assertThat(run.path("perSecond").asDouble()).isPositive();
      assertThat(run.path("toolCpuSeconds").asDouble()).isPositive();
      assertThat(run.path("memoryBytes").asLong()).isPositive();
      long written = 0;
      for (JsonNode shard : run.path("written")) {
        written += shard.asLong();
      }
      if (kind.equals("full")) {
        assertThat(run.path("documents").asLong()).isEqualTo(RECORDS);
        assertThat(written).isGreaterThanOrEqualTo(RECORDS);
      } else if (kind.equals("incremental")) {
        assertThat(run.path("documents").asLong()).isEqualTo(CHANGES);
        assertThat(written).isPositive();
      } else {
        assertThat(run.path("lag").path("count").asLong()).isPositive();
      }
    }
    assertThat(copies)
        .containsExactlyInAnyOrder(
            "full, sharded, one",
            "full, sharded, ours",
            "full, replica set, one",
            "full, replica set, ours",
            "incremental, replica set, one",
            "incremental, replica set, ours",
            "lag, replica set, one",
            "lag, replica set, ours",
            "incremental, sharded, one",
            "incremental, sharded, ours",
            "lag, sharded, one",
            "lag, sharded, ours");
  }
}
