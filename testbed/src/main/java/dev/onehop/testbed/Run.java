package dev.onehop.testbed;

import dev.onehop.testbed.internal.link.Links;
import dev.onehop.testbed.internal.process.ProcFs;
import dev.onehop.testbed.internal.process.ServerProcess;
import dev.onehop.testbed.internal.run.RunDirectory;
import dev.onehop.testbed.internal.run.RunState;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * What must go when a run ends, however it ends: processes, links, files. Registers itself to be
 * closed with the JVM. Thread-safe.
 */
final class Run implements AutoCloseable {
  /** Ctrl-C reaches the servers as soon as it reaches us: then their end is no failure. */
  private static final long GRACE_MILLIS = 400;

  private final Topology topology;
  private final ClusterPlan plan;
  private final RunDirectory directory;
  private final Links links;
  private final List<ServerProcess> processes = new ArrayList<>();
  private final List<RunState.Entry> entries = new ArrayList<>();
  private final List<Consumer<ProcessFailure>> listeners = new CopyOnWriteArrayList<>();
  private final Thread hook = new Thread(this::close, "onehop-testbed-stop");
  private boolean closing;
  private @Nullable ProcessFailure failure;

  Run(Topology topology, ClusterPlan plan, RunDirectory directory, Links links) {
    this.topology = topology;
    this.plan = plan;
    this.directory = directory;
    this.links = links;
    try {
      Runtime.getRuntime().addShutdownHook(hook);
    } catch (IllegalStateException e) {
      directory.close();
      throw new TestbedException("this JVM is being stopped", e);
    }
    synchronized (this) {
      writeState(RunState.STARTING, "");
    }
  }

  ClusterPlan plan() {
    return plan;
  }

  RunDirectory directory() {
    return directory;
  }

  Links links() {
    return links;
  }

  /**
   * Starts a process that ends with this run.
   *
   * @param address where it can be reached
   */
  synchronized ServerProcess start(String name, String address, List<String> command, Path log) {
    if (closing) {
      throw new TestbedException("the testbed is being stopped");
    }
    ServerProcess process = ServerProcess.start(name, command, log, directory.output(name));
    processes.add(process);
    entries.add(new RunState.Entry(name, address, process.pid(), process.startTicks()));
    writeState(RunState.STARTING, "");
    process.onDeath(this::died);
    return process;
  }

  /** Whether it is being closed, by whomever. */
  synchronized boolean isClosing() {
    return closing;
  }

  synchronized void started(String url) {
    writeState(RunState.RUNNING, url);
  }

  void onProcessDeath(Consumer<ProcessFailure> listener) {
    @Nullable ProcessFailure already;
    synchronized (this) {
      listeners.add(listener);
      already = failure;
    }
    if (already != null) {
      listener.accept(already);
    }
  }

  private void died(ProcessFailure died) {
    CompletableFuture.delayedExecutor(GRACE_MILLIS, TimeUnit.MILLISECONDS)
        .execute(
            () -> {
              synchronized (this) {
                if (closing) {
                  return;
                }
                failure = died;
              }
              listeners.forEach(listener -> listener.accept(died));
            });
  }

  private void writeState(String phase, String url) {
    long pid = ProcessHandle.current().pid();
    RunState.Entry owner = new RunState.Entry("owner", "", pid, ProcFs.startTicks(pid).orElse(-1));
    new RunState(topology.name(), phase, url, owner, entries).write(directory.path());
  }

  @Override
  public void close() {
    List<ServerProcess> toEnd;
    synchronized (this) {
      if (closing) {
        return;
      }
      closing = true;
      toEnd = List.copyOf(processes);
    }
    toEnd.forEach(ServerProcess::kill);
    links.close();
    toEnd.forEach(ServerProcess::awaitEnd);
    directory.close();
    try {
      boolean unused = Runtime.getRuntime().removeShutdownHook(hook);
    } catch (IllegalStateException e) {
      // This is the hook.
    }
  }
}
