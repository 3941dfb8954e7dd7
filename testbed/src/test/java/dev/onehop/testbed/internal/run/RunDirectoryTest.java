package dev.onehop.testbed.internal.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onehop.testbed.TestbedException;
import dev.onehop.testbed.internal.process.ProcFs;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RunDirectoryTest {
  @TempDir Path root;
  private final List<Process> started = new ArrayList<>();
  private final List<String> found = new ArrayList<>();

  @AfterEach
  void endProcesses() {
    started.forEach(Process::destroyForcibly);
  }

  @Test
  void cleansUpAfterKilledRun() throws Exception {
    Process server = sleeper(root.resolve("t").toString());
    leaveState(server.pid(), ProcFs.startTicks(server.pid()).getAsLong());
    Files.createDirectories(root.resolve("t/data/s1-a/journal"));
    Files.writeString(root.resolve("t/data/s1-a/journal/j"), "x");
    try (RunDirectory directory = RunDirectory.claim(root, "t", found::add)) {
      assertThat(server.waitFor(10, TimeUnit.SECONDS)).isTrue();
      assertThat(found).containsExactly("s1/a (process " + server.pid() + ")");
      assertThat(directory.path().resolve("data/s1-a")).doesNotExist();
      assertThat(directory.path().resolve("state.json")).doesNotExist();
    }
    assertThat(root.resolve("t")).doesNotExist();
  }

  @Test
  void ignoresProcessWithReusedPid() throws IOException {
    Process other = sleeper(root.resolve("t").toString());
    leaveState(other.pid(), ProcFs.startTicks(other.pid()).getAsLong() - 1);
    RunDirectory.claim(root, "t", found::add).close();
    assertThat(found).isEmpty();
    assertThat(other.isAlive()).isTrue();
  }

  @Test
  void ignoresProcessWithOtherCommandLine() throws IOException {
    Process other = sleeper("/somewhere/else");
    leaveState(other.pid(), ProcFs.startTicks(other.pid()).getAsLong());
    RunDirectory.claim(root, "t", found::add).close();
    assertThat(found).isEmpty();
    assertThat(other.isAlive()).isTrue();
  }

  @Test
  void rejectsSecondRunOfTopology() {
    try (RunDirectory directory = RunDirectory.claim(root, "t", found::add)) {
      leaveState(4711, 1);
      assertThatThrownBy(() -> RunDirectory.claim(root, "t", found::add))
          .isInstanceOf(TestbedException.class)
          .hasMessageStartingWith("topology t is already running in process ")
          .hasMessageContaining("topology down t)");
      assertThat(directory.path()).exists();
      RunDirectory.claim(root, "another", found::add).close();
    }
  }

  @Test
  void ignoresTruncatedStateFile() throws IOException {
    Files.createDirectories(root.resolve("t"));
    Files.writeString(root.resolve("t/state.json"), "{\"topology\": \"t\", \"serv");
    assertThat(RunState.read(root.resolve("t"))).isNull();
    RunDirectory.claim(root, "t", found::add).close();
  }

  @Test
  void readsWrittenState() throws IOException {
    Files.createDirectories(root.resolve("t"));
    RunState state =
        new RunState(
            "t",
            RunState.RUNNING,
            "mongodb://127.1.1.1:27017",
            true,
            new RunState.Entry("owner", "", 1, 2),
            List.of(new RunState.Entry("s1/a", "127.1.1.1:27018", 3, 1L << 40)));
    state.write(root.resolve("t"));
    assertThat(RunState.read(root.resolve("t"))).isEqualTo(state);
  }

  private Process sleeper(String argument) throws IOException {
    Process process = new ProcessBuilder("sh", "-c", "sleep 100; :", argument).start();
    started.add(process);
    return process;
  }

  private void leaveState(long pid, long startTicks) {
    try {
      Files.createDirectories(root.resolve("t"));
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
    new RunState(
            "t",
            RunState.RUNNING,
            "",
            false,
            new RunState.Entry("owner", "", 4711, 1),
            List.of(new RunState.Entry("s1/a", "127.1.1.1:27018", pid, startTicks)))
        .write(root.resolve("t"));
  }
}
