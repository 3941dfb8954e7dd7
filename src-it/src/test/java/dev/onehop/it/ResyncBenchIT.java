package dev.onehop.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.onehop.cli.OneHopCommand;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A small bench on real servers. It checks by which method each member was made, that the data is
 * equal, and that no write is lost.
 */
@Tag("nightly")
@Tag("alone")
class ResyncBenchIT {

  @Test
  void measuresBothMethods(@TempDir Path folder) throws Exception {
    System.setProperty("onehop.home", Path.of("..").toRealPath().toString());
    Path out = folder.resolve("run");
    StringWriter stderr = new StringWriter();
    int exitCode =
        OneHopCommand.commandLine()
            .setOut(new PrintWriter(new StringWriter()))
            .setErr(new PrintWriter(stderr))
            .execute(
                "bench",
                "join",
                "--sizes",
                "1,8",
                "--indexes",
                "2",
                "--collections",
                "3",
                "--rounds",
                "1",
                "--oplog",
                "16",
                "--data",
                folder.resolve("data").toString(),
                "--out",
                out.toString());

    assertThat(stderr.toString()).isEmpty();
    assertThat(exitCode).isZero();
    assertThat(folder.resolve("data")).doesNotExist();

    JsonNode results = new ObjectMapper().readTree(out.resolve("results.json").toFile());
    assertThat(results.path("run").path("complete").asBoolean()).isTrue();
    assertThat(results.path("cells")).hasSize(4);
    Set<String> methods = new HashSet<>();
    for (JsonNode cell : results.path("cells")) {
      methods.add(cell.path("method").asText());
      assertThat(cell.path("methodProved").asBoolean()).isTrue();
      assertThat(cell.path("equal").asBoolean()).isTrue();
      assertThat(cell.path("lost").asLong()).isZero();
      assertThat(cell.path("written").asLong()).isPositive();
      assertThat(cell.path("seconds")).hasSize(1);
      assertThat(cell.path("fixedSeconds").isNumber()).isTrue();
      assertThat(cell.path("movedBytes").asLong()).isPositive();
      assertThat(cell.path("sourceReads").path("count").asLong()).isPositive();
      boolean files = cell.path("method").asText().equals("files");
      assertThat(cell.path("lockedSeconds").isNumber()).isEqualTo(files);
      assertThat(cell.has("sourceReadsLocked")).isEqualTo(files);
    }
    assertThat(methods).containsExactlyInAnyOrderElementsOf(List.of("logical", "files"));
  }

  @Test
  void killedBenchEndsItsServers(@TempDir Path folder) throws Exception {
    Process bench =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "-Donehop.home=" + Path.of("..").toRealPath(),
                "-cp",
                System.getProperty("java.class.path"),
                OneHopCommand.class.getName(),
                "resync",
                "bench",
                "--method=logical",
                "--sizes=1",
                "--indexes=0",
                "--collections=1",
                "--rounds=50",
                "--oplog=16",
                "--data=" + folder.resolve("data"),
                "--out=" + folder.resolve("run"))
            .redirectErrorStream(true)
            .redirectOutput(folder.resolve("bench.log").toFile())
            .start();
    try {
      // Waits until the replica set has three members: its first two and a new one.
      await()
          .atMost(Duration.ofMinutes(2))
          .until(
              () -> {
                assertThat(bench.isAlive())
                    .as(Files.readString(folder.resolve("bench.log")))
                    .isTrue();
                return servers(folder) >= 3;
              });
    } finally {
      bench.destroyForcibly().waitFor();
    }
    await().atMost(Duration.ofSeconds(30)).until(() -> servers(folder) == 0);
  }

  private static long servers(Path folder) {
    return ProcessHandle.allProcesses()
        .filter(
            process ->
                process.info().commandLine().orElse("").contains("--dbpath " + folder + "/data"))
        .count();
  }
}
