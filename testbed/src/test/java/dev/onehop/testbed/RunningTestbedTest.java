package dev.onehop.testbed;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onehop.testbed.internal.process.ProcFs;
import dev.onehop.testbed.internal.run.RunDirectory;
import dev.onehop.testbed.internal.run.RunState;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RunningTestbedTest {
  private static final String ADDRESS = "127.0.0.1:1";

  @TempDir private Path cache;
  private Process server;

  @BeforeEach
  void startServer() throws IOException {
    server = new ProcessBuilder("sleep", "300").start();
    Path directory = Files.createDirectories(RunDirectory.root(cache).resolve("t"));
    RunState.Entry entry =
        new RunState.Entry(
            "shard/a", ADDRESS, server.pid(), ProcFs.startTicks(server.pid()).getAsLong());
    new RunState("t", RunState.RUNNING, "", true, entry, List.of(entry)).write(directory);
  }

  @AfterEach
  void endServer() {
    server.destroyForcibly();
  }

  @Test
  void reportsServerDeath() throws Exception {
    CompletableFuture<String> ended = new CompletableFuture<>();
    RunningTestbed.all(cache).get(0).onServerDeath(ended::complete);
    assertThat(ended).isNotDone();
    server.destroyForcibly();
    assertThat(ended.get(20, TimeUnit.SECONDS)).isEqualTo("shard/a");
  }

  @Test
  void frozenServerResumesWhenFreezingProcessIsKilled() throws Exception {
    Process freezing =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-cp",
                System.getProperty("java.class.path"),
                Freezing.class.getName(),
                cache.toString())
            .inheritIO()
            .start();
    try {
      awaitFrozen(true);
    } finally {
      freezing.destroyForcibly().waitFor();
    }
    awaitFrozen(false);
  }

  private void awaitFrozen(boolean frozen) throws Exception {
    long end = System.nanoTime() + Duration.ofSeconds(30).toNanos();
    while (isFrozen() != frozen && System.nanoTime() - end < 0) {
      Thread.sleep(50);
    }
    assertThat(isFrozen()).isEqualTo(frozen);
  }

  private boolean isFrozen() throws IOException {
    String stat = Files.readString(Path.of("/proc/" + server.pid() + "/stat"));
    return stat.substring(stat.lastIndexOf(')') + 2).startsWith("T");
  }

  /** A separate process that freezes the server, and does not end by itself. */
  static final class Freezing {
    private Freezing() {}

    public static void main(String[] args) throws InterruptedException {
      RunningTestbed.all(Path.of(args[0])).get(0).setFrozen(ADDRESS, true);
      Thread.sleep(Duration.ofMinutes(5).toMillis());
    }
  }
}
