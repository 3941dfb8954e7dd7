package dev.onehop.testbed.internal.process;

import dev.onehop.testbed.ProcessFailure;
import dev.onehop.testbed.TestbedException;
import dev.onehop.testbed.Watchdog;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** A running server: a child process with its log. The process ends with this JVM. Thread-safe. */
public final class ServerProcess implements RunningServer {
  private static final int LOG_LINES = 12;

  private final String name;
  private final List<String> command;
  private final Process process;
  private final Path log;
  private final Path output;
  private final long startTicks;
  private volatile boolean stopped;
  private volatile @Nullable CpuQuota quota;

  private ServerProcess(String name, List<String> command, Process process, Path log, Path output) {
    this.name = name;
    this.command = command;
    this.process = process;
    this.log = log;
    this.output = output;
    this.startTicks = ProcFs.startTicks(process.pid()).orElse(-1);
  }

  /**
   * Starts a server.
   *
   * @param name the server's name in messages
   * @param command the program and its arguments
   * @param log the log that the server writes; may be the same as {@code output}
   * @param output the file for the process's standard output and error
   * @throws TestbedException if the program cannot be started
   */
  public static ServerProcess start(String name, List<String> command, Path log, Path output) {
    ProcessBuilder builder =
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectInput(ProcessBuilder.Redirect.from(Path.of("/dev/null").toFile()))
            .redirectOutput(output.toFile());
    try {
      Process process = builder.start();
      Watchdog.watch(process.toHandle());
      return new ServerProcess(name, List.copyOf(command), process, log, output);
    } catch (IOException e) {
      throw new TestbedException("cannot start " + name + ": " + e.getMessage(), e);
    }
  }

  public String name() {
    return name;
  }

  public long pid() {
    return process.pid();
  }

  /**
   * The start time of the process, in clock ticks since boot; -1 if the process ended before the
   * time was read.
   */
  public long startTicks() {
    return startTicks;
  }

  public List<String> command() {
    return command;
  }

  @Override
  public boolean isAlive() {
    return process.isAlive();
  }

  @Override
  public Optional<Duration> cpuTime() {
    return process.info().totalCpuDuration();
  }

  @Override
  public OptionalLong residentBytes() {
    return ProcFs.residentBytes(pid());
  }

  /** Adds a listener that is called once if the process ends without {@link #kill}. */
  @Override
  public void onDeath(Consumer<ProcessFailure> listener) {
    var unused =
        process
            .onExit()
            .thenAccept(
                ended -> {
                  if (!stopped) {
                    listener.accept(failure());
                  }
                });
  }

  @Override
  public ProcessFailure failure() {
    return new ProcessFailure(name, process.isAlive() ? -1 : process.exitValue(), lastLogLines());
  }

  /** The last lines of the server's log, or of its output if there is no log. */
  @Override
  public List<String> lastLogLines() {
    List<String> lines = LogTail.of(log, LOG_LINES);
    return lines.isEmpty() || !Files.exists(log) ? LogTail.of(output, LOG_LINES) : lines;
  }

  @Override
  public String output() {
    try {
      return Files.readString(output);
    } catch (IOException e) {
      return "";
    }
  }

  @Override
  public void setFrozen(boolean frozen) {
    setFrozen(name, pid(), frozen);
  }

  /**
   * Freezes a server's process, or resumes it.
   *
   * @throws TestbedException if the signal can't be sent
   */
  public static void setFrozen(String name, long pid, boolean frozen) {
    String signal = frozen ? "-STOP" : "-CONT";
    try {
      Process kill = new ProcessBuilder("kill", signal, String.valueOf(pid)).inheritIO().start();
      int exit = kill.waitFor();
      if (exit != 0) {
        throw new TestbedException("kill " + signal + " " + name + " ended with " + exit);
      }
    } catch (IOException e) {
      throw new TestbedException("cannot run kill: " + e.getMessage(), e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new TestbedException("interrupted", e);
    }
  }

  @Override
  public boolean pin(String processors) {
    try {
      Process taskset =
          new ProcessBuilder("taskset", "-a", "-p", "-c", processors, String.valueOf(pid()))
              .redirectOutput(ProcessBuilder.Redirect.DISCARD)
              .redirectError(ProcessBuilder.Redirect.DISCARD)
              .start();
      return taskset.waitFor() == 0;
    } catch (IOException e) {
      return false; // taskset is not installed
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new TestbedException("interrupted", e);
    }
  }

  @Override
  public void limit(double processors) {
    quota = CpuQuota.of(pid(), processors);
  }

  /**
   * Kills the process. An orderly shutdown takes a primary up to 15 seconds and has no benefit,
   * because the data is deleted with the run.
   */
  @Override
  public void kill() {
    stopped = true;
    process.destroyForcibly();
  }

  /** Waits for the end of the process, ten seconds at most. */
  @Override
  public void awaitEnd() {
    try {
      boolean unused = process.waitFor(10, TimeUnit.SECONDS);
      CpuQuota limit = quota;
      if (limit != null) {
        limit.remove();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
