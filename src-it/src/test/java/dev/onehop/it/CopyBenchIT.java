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

/**
 * Small copies (full, incremental, lag) by OneHop and by the plain driver, between clusters that
 * the bench starts.
 */
@Tag("alone")
@Tag("nightly")
class CopyBenchIT {
  private static final long RECORDS = 2_000;
  private static final long CHANGES = 1_000;

  @Test
  void measuresCopiesOfBothTools(@TempDir Path folder) throws Exception {
    System.setProperty("onehop.home", Path.of("..").toRealPath().toString());
    Path out = folder.resolve("run");
    StringWriter stderr = new StringWriter();
    int exitCode =
        OneHopCommand.commandLine()
            .setOut(new PrintWriter(new StringWriter()))
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

    JsonNode results = new ObjectMapper().readTree(out.resolve("results.json").toFile());
    assertThat(results.path("run").path("complete").asBoolean()).isTrue();
    List<String> copies = new ArrayList<>();
    for (JsonNode run : results.path("points")) {
      boolean lag = run.has("lag");
      String kind = lag ? "lag" : run.path("phase").asText();
      copies.add(kind + ", " + run.path("source").asText() + ", " + run.path("tool").asText());
      assertThat(run.path("verified").asBoolean()).isTrue();
      assertThat(run.path("documentsPerSecond").asDouble()).isPositive();
      assertThat(run.path("toolCpuSeconds").asDouble()).isPositive();
      assertThat(run.path("memoryBytes").asLong()).isPositive();
      long written = 0;
      for (JsonNode shard : run.path("written")) {
        written += shard.asLong();
      }
      assertThat(written).isPositive();
      if (lag) {
        assertThat(run.path("lag").path("count").asLong()).isPositive();
      } else if (kind.equals("full")) {
        assertThat(run.path("documents").asLong()).isEqualTo(RECORDS);
        assertThat(written).isGreaterThanOrEqualTo(RECORDS);
      } else {
        assertThat(run.path("documents").asLong()).isEqualTo(CHANGES);
      }
    }
    assertThat(copies)
        .containsExactlyInAnyOrder(
            "full, sharded, driver-one-mongos",
            "full, sharded, onehop",
            "full, replica-set, driver-one-mongos",
            "full, replica-set, onehop",
            "incremental, replica-set, driver-one-mongos",
            "incremental, replica-set, onehop",
            "lag, replica-set, driver-one-mongos",
            "lag, replica-set, onehop",
            "incremental, sharded, driver-one-mongos",
            "incremental, sharded, onehop",
            "lag, sharded, driver-one-mongos",
            "lag, sharded, onehop");
  }
}
