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
import org.jspecify.annotations.Nullable;

/**
 * A testbed that another process runs, or that a killed process has left behind, as far as it can
 * be seen from outside. A snapshot; immutable.
 */
public final class RunningTestbed {
  private static final Duration STOP_TIMEOUT = Duration.ofSeconds(30);

  private final Path root;
  private final RunState state;

  /**
   * One of its servers.
   *
   * @param name for example {@code shard-or/or1}
   * @param address where it can be reached, as {@code host:port}
   * @param pid its process
   * @param alive whether that process runs
   */
  public record ServerStatus(String name, String address, long pid, boolean alive) {}

  private RunningTestbed(Path root, RunState state) {
    this.root = root;
    this.state = state;
  }

  /** Every testbed of this user, killed ones included. */
  public static List<RunningTestbed> all() {
    return all(BinaryFinder.cacheFolder(System.getenv()));
  }

  /**
   * Every testbed that keeps its run in a cache folder.
   *
   * @param cacheFolder as given to {@link Testbed.Builder#cacheFolder}
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

  /** The name of its topology. */
  public String topologyName() {
    return state.topology();
  }

  /** Where to connect; empty while it starts. */
  public String url() {
    return state.url();
  }

  /** Whether its routers are stand-ins, because no mongos was found. */
  public boolean hasStandInRouters() {
    return state.standInRouters();
  }

  /** The process that runs it. */
  public long ownerPid() {
    return state.owner().pid();
  }

  /** Whether that process is there; if not, the testbed is the leftover of a killed run. */
  public boolean isOwned() {
    return state.owner().isAlive();
  }

  /** Whether it has finished starting and can be used. */
  public boolean isReady() {
    return isOwned() && state.phase().equals(RunState.RUNNING);
  }

  /** Its servers, as far as they have been started. */
  public List<ServerStatus> servers() {
    return state.servers().stream()
        .map(s -> new ServerStatus(s.name(), s.address(), s.pid(), s.isAlive()))
        .toList();
  }

  /**
   * Stops a server where it is, or lets it go on. It goes on at the latest when this JVM has ended,
   * also by {@code kill -9}.
   *
   * @param address of one of its servers
   * @throws TestbedException if there is no such server, or that fails
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
   * Ends it: asks its owner to, or, where there is none, ends the servers. Waits until all are
   * gone.
   *
   * @throws TestbedException if that takes longer than half a minute
   */
  public void stop() {
    if (isOwned()) {
      ProcessHandle.of(ownerPid()).ifPresent(ProcessHandle::destroy);
      Waiting.until("process " + ownerPid() + " to end", STOP_TIMEOUT, () -> !isOwned());
    }
    // Also removes what an owner that was killed meanwhile has left.
    RunDirectory.claim(root, topologyName(), server -> {}).close();
  }
}
