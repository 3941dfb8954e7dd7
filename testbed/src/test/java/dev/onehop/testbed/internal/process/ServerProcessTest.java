package dev.onehop.testbed.internal.process;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.onehop.testbed.ProcessFailure;
import dev.onehop.testbed.TestbedException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ServerProcessTest {
  @TempDir Path folder;

  @Test
  void reportsDeathWithExitCodeAndLastLines() throws Exception {
    CompletableFuture<ProcessFailure> death = new CompletableFuture<>();
    ServerProcess process =
        start("sh", "-c", "sleep 0.2; echo first; echo no space left on device >&2; exit 14");
    process.onDeath(death::complete);
    ProcessFailure failure = death.get(20, TimeUnit.SECONDS);
    assertThat(failure)
        .isEqualTo(new ProcessFailure("s1/a", 14, List.of("first", "no space left on device")));
    assertThat(failure.describe())
        .isEqualTo(
            "s1/a ended with exit code 14; its log ends with:\n  first\n  no space left on device");
  }

  @Test
  void countsCpuTimeWhileRunning() throws Exception {
    ServerProcess process = start("sh", "-c", "while :; do :; done");
    await()
        .atMost(Duration.ofSeconds(30))
        .until(() -> process.cpuTime().orElseThrow().compareTo(Duration.ofMillis(50)) >= 0);
    process.kill();
    process.awaitEnd();
    assertThat(process.cpuTime()).isEmpty();
  }

  @Test
  void killIsNoFailure() throws Exception {
    CompletableFuture<ProcessFailure> death = new CompletableFuture<>();
    ServerProcess process = start("sleep", "100");
    process.onDeath(death::complete);
    process.kill();
    process.awaitEnd();
    assertThat(process.isAlive()).isFalse();
    assertThat(death).isNotDone();
  }

  @Test
  void reportsMissingProgram() {
    assertThatThrownBy(() -> start("/no/such/mongod"))
        .isInstanceOf(TestbedException.class)
        .hasMessageContaining("cannot start s1/a")
        .hasMessageContaining("/no/such/mongod");
  }

  @Test
  void formatsJsonLog() {
    assertThat(
            LogTail.readable(
                "{\"t\":{\"$date\":\"2026-11-21T04:39:08.634Z\"},\"s\":\"E\",\"c\":\"STORAGE\","
                    + "\"id\":20557,\"ctx\":\"main\",\"msg\":\"DBException, terminating\","
                    + "\"attr\":{\"error\":\"disk full\"}}"))
        .isEqualTo("E STORAGE DBException, terminating {\"error\": \"disk full\"}");
    assertThat(LogTail.readable("{\"t\": broken")).isEqualTo("{\"t\": broken");
  }

  private ServerProcess start(String... command) {
    return ServerProcess.start(
        "s1/a", List.of(command), folder.resolve("none.log"), folder.resolve("a.out"));
  }
}
