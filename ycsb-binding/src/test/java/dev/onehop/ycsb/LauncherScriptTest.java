package dev.onehop.ycsb;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Replies of {@code bin/ycsb} before it builds or starts anything. */
class LauncherScriptTest {
  private static final Path SCRIPT = Path.of("..", "bin", "ycsb").toAbsolutePath().normalize();

  @TempDir private Path elsewhere;

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "bench legacy | unknown command \"bench\"; commands are load, run, shell",
        "run mysql | unknown binding \"mysql\"; bindings are legacy, async",
        "run | no binding given; bindings are legacy, async",
        "run -P x | no binding given; bindings are legacy, async",
        "run legacy -P nowhere | no workload file nowhere",
        "run legacy -P | -P needs a value",
        "run legacy -cp | -cp needs a value",
        "run legacy -jvm-args | -jvm-args needs a value",
      })
  void wrongArgumentsPrintOneLineAndExit2(String line, String message) throws Exception {
    EndedProcess ended = ycsb(line.split(" "));

    assertThat(ended.exitCode()).isEqualTo(2);
    assertThat(ended.errors()).singleElement().asString().startsWith("ycsb: " + message);
  }

  @Test
  void printsHelpWithoutArguments() throws Exception {
    EndedProcess ended = ycsb();

    assertThat(ended.exitCode()).isEqualTo(2);
    assertThat(ended.errors())
        .contains("Examples:")
        .anyMatch(line -> line.contains("legacy, async"));
  }

  @Test
  void helpExits0() throws Exception {
    assertThat(ycsb("--help").exitCode()).isZero();
    assertThat(ycsb("run", "legacy", "--help").exitCode()).isZero();
  }

  private EndedProcess ycsb(String... arguments) throws IOException, InterruptedException {
    List<String> command = new ArrayList<>(List.of("bash", SCRIPT.toString()));
    command.addAll(List.of(arguments));
    return EndedProcess.run(new ProcessBuilder(command).directory(elsewhere.toFile()));
  }
}
