package dev.onehop.jmh.check;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.InstanceOfAssertFactories.map;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.onehop.jmh.check.Side.Iterations;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Runs real benchmarks for milliseconds. Their results cannot matter: each bar is so low or so high
 * that it always holds or always breaks.
 */
class CheckCommandTest {
  private static final Iterations NONE = new Iterations(0, 1);
  private static final Iterations SHORT = new Iterations(1, 20);
  private static final String HASHING = "core.HashingBenchmark.string";

  @TempDir private Path folder;

  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();

  private int check(double atLeast, String... arguments) {
    return check(new Side(HASHING, Map.of(), NONE, SHORT), atLeast, arguments);
  }

  private int check(Side benchmark, double atLeast, String... arguments) {
    Side baseline = new Side("core.HashingBenchmark.md5", Map.of(), NONE, SHORT);
    return CheckCommand.commandLine(
            List.of(new Comparison("hashing", benchmark, baseline, atLeast, null, 1)))
        .setOut(new PrintWriter(out))
        .setErr(new PrintWriter(err))
        .execute(arguments);
  }

  @Test
  void reportsBrokenBar() {
    assertThat(check(1_000_000)).isEqualTo(1);
    assertThat(out.toString()).containsPattern("hashing +[0-9.]+ 1000000.00   BROKEN");
    assertThat(err.toString())
        .contains("again: core.HashingBenchmark.string")
        .containsPattern(
            "onehop jmh: 1 of 1 limits broken: hashing: core.HashingBenchmark.string is [0-9.]+ times"
                + " as fast as core.HashingBenchmark.md5; at least 1000000.00 times is required");
  }

  @Test
  void heldBarPassesAndWritesJmhResults() throws Exception {
    Path json = folder.resolve("new/result.json");
    assertThat(check(0.000_001, "-rff", json.toString())).isZero();
    assertThat(out.toString()).containsPattern("hashing +[0-9.]+ +0.00   holds");
    assertThat(err.toString()).doesNotContain("again", "broken");
    List<?> results = new ObjectMapper().readValue(json.toFile(), List.class);
    assertThat(results)
        .allSatisfy(
            result ->
                assertThat(result)
                    .asInstanceOf(map(String.class, Object.class))
                    .containsEntry("forks", 1)
                    .containsKeys("jmhVersion", "mode", "primaryMetric"));
    List<?> benchmarks = results.stream().map(r -> ((Map<?, ?>) r).get("benchmark")).toList();
    assertThat(benchmarks)
        .isEqualTo(
            List.of(
                "dev.onehop.jmh.core.HashingBenchmark.string",
                "dev.onehop.jmh.core.HashingBenchmark.md5"));
  }

  @Test
  void unmatchedPatternIsUsageError() {
    assertThat(check(1, "nothing")).isEqualTo(2);
    assertThat(err.toString()).contains("no limit has a name that matches \"nothing\"");
  }

  @Test
  void failedBenchmarkFailsCheck() {
    Side fails =
        new Side(
            "transport.SharedSocketsBenchmark.pings", Map.of("transport", "none"), NONE, SHORT);
    assertThat(check(fails, 1)).isEqualTo(1);
    assertThat(err.toString())
        .contains("onehop jmh: transport.SharedSocketsBenchmark.pings failed: ");
  }
}
