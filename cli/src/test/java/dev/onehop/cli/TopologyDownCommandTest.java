package dev.onehop.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import dev.onehop.testbed.internal.process.ProcFs;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;

/**
 * {@code onehop topology down} with a separate home folder. Each topology consists of one process.
 */
@Isolated("changes user.home")
class TopologyDownCommandTest {
  private static final String HOME = System.getProperty("user.home");

  @TempDir private Path home;
  private final Map<String, Process> owners = new LinkedHashMap<>();

  private record Ended(int exitCode, String out, String err) {}

  @BeforeEach
  void changeHome() {
    assumeThat(System.getenv("XDG_CACHE_HOME")).isNull();
    System.setProperty("user.home", home.toString());
  }

  @AfterEach
  void restoreHome() {
    System.setProperty("user.home", HOME);
    owners.values().forEach(Process::destroyForcibly);
  }

  private static Ended down(String... arguments) {
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    int exitCode =
        OneHopCommand.commandLine()
            .setOut(new PrintWriter(out))
            .setErr(new PrintWriter(err))
            .execute(
                Stream.concat(Stream.of("topology", "down"), Stream.of(arguments))
                    .toArray(String[]::new));
    return new Ended(exitCode, out.toString(), err.toString());
  }

  private void run(String topology) throws IOException {
    Process owner = new ProcessBuilder("sleep", "100").start();
    owners.put(topology, owner);
    writeState(topology, owner.pid(), ProcFs.startTicks(owner.pid()).getAsLong());
  }

  private void addKilledRun(String topology) throws IOException {
    writeState(topology, Long.MAX_VALUE, 1);
  }

  private void writeState(String topology, long pid, long startTicks) throws IOException {
    Files.writeString(
        Files.createDirectories(folder(topology)).resolve("state.json"),
        """
        {"topology": "%s", "phase": "running", "url": "mongodb://127.0.0.1:1", "servers": [],
         "owner": {"name": "owner", "address": "", "pid": %d, "startTicks": %d}}
        """
            .formatted(topology, pid, startTicks));
  }

  private Path folder(String topology) {
    return home.resolve(".cache/onehop/run").resolve(topology);
  }

  /**
   * Reads /proc like the testbed. This JVM may notice the end of a child process later than /proc
   * shows it.
   */
  private List<String> running() {
    return owners.keySet().stream()
        .filter(each -> ProcFs.startTicks(owners.get(each).pid()).isPresent())
        .toList();
  }

  @Test
  void singleTopologyNeedsNoName() throws IOException {
    run("here");
    assertThat(down()).isEqualTo(new Ended(0, "Stopped here.\n", ""));
    assertThat(running()).isEmpty();
  }

  @Test
  void removesLogOfStoppedTopology() throws IOException {
    run("here");
    run("there");
    Path log = TopologyUpCommand.log("here", owners.get("here").pid());
    Path other = TopologyUpCommand.log("there", owners.get("there").pid());
    try {
      Files.writeString(log, "starting");
      Files.writeString(other, "starting");
      assertThat(down("here").exitCode()).isZero();
      assertThat(log).doesNotExist();
      assertThat(other).exists();
    } finally {
      Files.deleteIfExists(other);
    }
  }

  @Test
  void severalTopologiesRequireName() throws IOException {
    run("here");
    run("there");
    addKilledRun("killed");
    Ended ended = down();
    assertThat(running()).containsExactly("here", "there");
    assertThat(ended.exitCode()).isEqualTo(2);
    assertThat(ended.err())
        .isEqualTo("onehop: several topologies are running: here, there; give a name, or --all\n");
    assertThat(folder("killed")).exists();
  }

  @Test
  void stopsOnlyNamedTopology() throws IOException {
    run("here");
    run("there");
    assertThat(down("here")).isEqualTo(new Ended(0, "Stopped here.\n", ""));
    assertThat(running()).containsExactly("there");
    run("here");
    assertThat(down("--topology", "there").out()).isEqualTo("Stopped there.\n");
    assertThat(running()).containsExactly("here");
    assertThat(down("there").out()).isEqualTo("Nothing to stop: there is not running.\n");
  }

  @Test
  void allStopsTopologiesAndRemovesKilledRuns() throws IOException {
    run("here");
    run("there");
    addKilledRun("killed");
    Ended ended = down("--all");
    assertThat(ended.exitCode()).isZero();
    assertThat(ended.out().lines())
        .containsExactlyInAnyOrder("Stopped here.", "Stopped there.", "Stopped killed.");
    assertThat(running()).isEmpty();
    assertThat(folder("killed")).doesNotExist();
  }

  @Test
  void killedRunsNeedNoName() throws IOException {
    run("here");
    addKilledRun("killed");
    addKilledRun("killed-too");
    assertThat(down().out().lines())
        .containsExactlyInAnyOrder("Stopped here.", "Stopped killed.", "Stopped killed-too.");
    assertThat(down().out()).isEqualTo("Nothing to stop.\n");
  }

  @Test
  void nameAndAllExcludeEachOther() {
    Ended ended = down("here", "--all");
    assertThat(ended.exitCode()).isEqualTo(2);
    assertThat(ended.err()).contains("mutually exclusive").hasLineCount(1);
  }
}
