package dev.onehop.cli.cluster;

import dev.onehop.cli.Failure;
import dev.onehop.testbed.internal.binaries.BinaryFinder;
import dev.onehop.testbed.internal.run.RunDirectory;
import dev.onehop.testbed.internal.run.RunState;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** A topology that runs in some process, or what is left of one, as it wrote down about itself. */
public final class TestbedRun {

  private static final Duration STOP_TIMEOUT = Duration.ofSeconds(30);

  private final RunState state;

  private TestbedRun(RunState state) {
    this.state = state;
  }

  /** The folder that all runs write to. */
  public static Path folder() {
    return RunDirectory.root(BinaryFinder.cacheFolder(System.getenv()));
  }

  /** The run of a topology; null if there is none. */
  public static @Nullable TestbedRun of(String topology) {
    RunState state = RunState.read(folder().resolve(topology));
    return state == null ? null : new TestbedRun(state);
  }

  /** All runs and leftovers. */
  public static List<TestbedRun> all() {
    if (!Files.isDirectory(folder())) {
      return List.of();
    }
    List<TestbedRun> runs = new ArrayList<>();
    try (Stream<Path> folders = Files.list(folder())) {
      folders
          .filter(Files::isDirectory)
          .sorted()
          .forEach(
              path -> {
                RunState state = RunState.read(path);
                if (state != null) {
                  runs.add(new TestbedRun(state));
                }
              });
    } catch (IOException e) {
      throw Failure.run("cannot list " + folder() + ": " + Failure.reason(e), e);
    }
    return runs;
  }

  public String topology() {
    return state.topology();
  }

  /** Where it can be reached; empty while it starts. */
  public String url() {
    return state.url();
  }

  /** The process that started it. */
  public long ownerPid() {
    return state.owner().pid();
  }

  /** Whether the process that started it still runs; otherwise what is there is left over. */
  public boolean isOwned() {
    return state.owner().isAlive();
  }

  /** All about it, a line per process. */
  public String describe() {
    StringBuilder text = new StringBuilder(topology());
    text.append(": ").append(isOwned() ? state.phase() : "LEFT OVER from a killed run");
    text.append(isOwned() ? ", process " + ownerPid() : "");
    text.append(url().isEmpty() ? "" : ", " + url()).append('\n');
    for (RunState.Entry server : state.servers()) {
      text.append(
          String.format(
              "  %-24s %-22s pid %-8d %s%n",
              server.name(), server.address(), server.pid(), server.isAlive() ? "up" : "DOWN"));
    }
    return text.toString();
  }

  /**
   * Stops it: asks the process that runs it to, or clears away what is left over.
   *
   * @throws Failure if it does not stop
   */
  public void stop() throws InterruptedException {
    if (!isOwned()) {
      RunDirectory.claim(folder(), topology(), line -> {}).close();
      return;
    }
    ProcessHandle.of(ownerPid()).ifPresent(ProcessHandle::destroy);
    long deadline = System.nanoTime() + STOP_TIMEOUT.toNanos();
    while (isOwned()) {
      if (System.nanoTime() - deadline > 0) {
        throw Failure.run("process " + ownerPid() + " does not end " + topology(), null);
      }
      Thread.sleep(50);
    }
  }
}
