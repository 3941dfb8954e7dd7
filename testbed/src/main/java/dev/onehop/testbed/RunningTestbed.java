package dev.onehop.testbed;

import dev.onehop.testbed.internal.binaries.BinaryFinder;
import dev.onehop.testbed.internal.cluster.Waiting;
import dev.onehop.testbed.internal.process.ServerProcess;
import dev.onehop.testbed.internal.run.RunDirectory;
import dev.onehop.testbed.internal.run.RunState;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A testbed of another process, or the leftover of a killed process. Immutable: it is a snapshot of
 * the testbed's run directory.
 */
public final class RunningTestbed {
  private static final Duration STOP_TIMEOUT = Duration.ofSeconds(30);

  private final Path root;
  private final RunState state;

  /**
   * A server of the testbed.
   *
   * @param name the name of the server, such as {@code shard-or/or1}
   * @param address the server's address, as {@code host:port}
   * @param pid the id of the server's process
   * @param alive whether that process runs
   */
  public record ServerStatus(String name, String address, long pid, boolean alive) {}

  private RunningTestbed(Path root, RunState state) {
    this.root = root;
    this.state = state;
  }

  /** All testbeds of this user, including testbeds of killed processes. */
  public static List<RunningTestbed> all() {
    return all(BinaryFinder.cacheFolder(System.getenv()));
  }

  /**
   * All testbeds with run directories in a cache folder.
   *
   * @param cacheFolder the folder that {@link Testbed.Builder#cacheFolder} sets
   */
  public static List<RunningTestbed> all(Path cacheFolder) {
    Path root = RunDirectory.root(cacheFolder);
    List<RunningTestbed> found = new ArrayList<>();
    if (!Files.isDirectory(root)) {
      return found;
    }
    try (DirectoryStream<Path> directories = Files.newDirectoryStream(root, Files::isDirectory)) {
      for (Path directory : directories) {
        @Nullable RunState state = RunState.read(directory);
        if (state != null) {
          found.add(new RunningTestbed(root, state));
        }
      }
    } catch (IOException e) {
      throw new TestbedException("cannot read " + root + ": " + e, e);
    }
    return found;
  }

  /** The name of the testbed's topology. */
  public String topologyName() {
    return state.topology();
  }

  /** The URL for applications; empty while the testbed starts. */
  public String url() {
    return state.url();
  }

  /** Whether the testbed's routers are stand-ins, because no mongos was found. */
  public boolean hasStandInRouters() {
    return state.standInRouters();
  }

  /** The process that runs the testbed. */
  public long ownerPid() {
    return state.owner().pid();
  }

  /**
   * Whether the owner process exists. If it does not exist, the testbed is the leftover of a killed
   * run.
   */
  public boolean isOwned() {
    return state.owner().isAlive();
  }

  /** Whether the start is complete and the testbed can be used. */
  public boolean isReady() {
    return isOwned() && state.phase().equals(RunState.RUNNING);
  }

  /** The servers that have been started. */
  public List<ServerStatus> servers() {
    return state.servers().stream()
        .map(s -> new ServerStatus(s.name(), s.address(), s.pid(), s.isAlive()))
        .toList();
  }

  /**
   * Calls the listener on another thread when one of the servers has ended.
   *
   * @param listener takes the server's name
   */
  public void onServerDeath(Consumer<String> listener) {
    for (ServerStatus server : servers()) {
      ProcessHandle.of(server.pid())
          .filter(process -> server.alive())
          .ifPresent(process -> process.onExit().thenRun(() -> listener.accept(server.name())));
    }
  }

  /**
   * Freezes a server with a signal, or resumes it. A frozen server resumes at the latest after the
   * end of this JVM, also after {@code kill -9}.
   *
   * @param address the address of one of the testbed's servers
   * @throws TestbedException if there is no such server, or the signal fails
   */
  public void setFrozen(String address, boolean frozen) {
    ServerStatus server =
        servers().stream()
            .filter(each -> each.address().equals(address) && each.alive())
            .findFirst()
            .orElseThrow(() -> new TestbedException("no server runs at " + address));
    if (frozen) {
      Watchdog.thaw(server.pid());
    }
    ServerProcess.setFrozen(server.name(), server.pid(), frozen);
  }

  /**
   * Stops the testbed: ends the owner process, or the servers if there is no owner. Waits until all
   * these processes have ended.
   *
   * @throws TestbedException if the end takes longer than half a minute
   */
  public void stop() {
    if (isOwned()) {
      ProcessHandle.of(ownerPid()).ifPresent(ProcessHandle::destroy);
      Waiting.until("process " + ownerPid() + " to end", STOP_TIMEOUT, () -> !isOwned());
    }
    // Claiming the directory also removes the files of an owner that was killed in the meantime.
    RunDirectory.claim(root, topologyName(), server -> {}).close();
  }
}
