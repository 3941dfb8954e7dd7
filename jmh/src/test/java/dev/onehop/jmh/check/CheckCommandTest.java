package dev.onehop.jmh.check;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.InstanceOfAssertFactories.map;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.snakeyaml.engine.v2.api.Load;
import org.snakeyaml.engine.v2.api.LoadSettings;
import picocli.CommandLine;

/** Runs real benchmarks, for milliseconds: what they say doesn't matter but to an absurd bar. */
class CheckCommandTest {
  private static final String BARS =
      """
      rounds: 1
      more rounds: 1
      warmup: {iterations: 0, milliseconds: 1}
      measurement: {iterations: 1, milliseconds: 20}
      bars:
        - name: hashing
          benchmark: core.HashingBenchmark.string
          baseline: core.HashingBenchmark.md5
          at least: %s
      """;

  @TempDir private Path folder;

  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();

  private int check(String bars, String... more) throws IOException {
    Path file = Files.writeString(folder.resolve("bars.yaml"), bars);
    CommandLine command =
        CheckCommand.commandLine().setOut(new PrintWriter(out)).setErr(new PrintWriter(err));
    String[] arguments = new String[more.length + 2];
    arguments[0] = "--bars";
    arguments[1] = file.toString();
    System.arraycopy(more, 0, arguments, 2, more.length);
    return command.execute(arguments);
  }

  @Test
  void aBrokenBarFailsTheCheckAndIsNamed() throws Exception {
    assertThat(check(BARS.formatted("1000000"))).isEqualTo(1);
    assertThat(out.toString()).containsPattern("hashing +[0-9.]+ 1000000.00   BROKEN");
    assertThat(err.toString())
        .contains("again: core.HashingBenchmark.string")
        .containsPattern(
            "onehop jmh: 1 of 1 bars broken: hashing: core.HashingBenchmark.string is [0-9.]+ times"
                + " as fast as core.HashingBenchmark.md5, and must be 1000000.00 times");
  }

  @Test
  void aHeldBarPassesAndResultsAreInJmhsFormat() throws Exception {
    Path json = folder.resolve("new/result.json");
    assertThat(check(BARS.formatted("0.000001"), "-rff", json.toString())).isZero();
    assertThat(out.toString()).containsPattern("hashing +[0-9.]+ +0.00   holds");
    assertThat(err.toString()).doesNotContain("again", "broken");
    // JSON is YAML.
    List<?> results =
        (List<?>) new Load(LoadSettings.builder().build()).loadFromString(Files.readString(json));
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
  void aBarOnSomethingElseThanABenchmarkIsAUsageError() throws Exception {
    assertThat(check(BARS.formatted("1").replace("HashingBenchmark.md5", "HashingBenchmark.sha")))
        .isEqualTo(2);
    assertThat(err.toString())
        .contains("bar \"hashing\" names core.HashingBenchmark.sha, which is no benchmark");
    assertThat(check(BARS.formatted("1"), "nothing")).isEqualTo(2);
    assertThat(err.toString()).contains("no bar's name has \"nothing\" in it");
  }

  @Test
  void aBenchmarkThatFailsFailsTheCheckWithItsReason() throws Exception {
    String bars =
        BARS.formatted("1")
            .replace("core.HashingBenchmark.string", "transport.SharedSocketsBenchmark.pings")
            .replace("at least", "parameters: {transport: none}\n    at least");
    assertThat(check(bars)).isEqualTo(1);
    assertThat(err.toString())
        .contains("onehop jmh: transport.SharedSocketsBenchmark.pings failed: ");
  }
}
