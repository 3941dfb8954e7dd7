package dev.onehop.testbed.internal.process;

import dev.onehop.testbed.ProcessFailure;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Consumer;

/**
 * A server that was started: a process of this machine, or a container. Implementations MUST be
 * thread-safe.
 */
public interface RunningServer {
  /** Whether the server is still running. */
  boolean isAlive();

  /** The processor time that the server has used so far; empty if unknown. */
  default Optional<Duration> cpuTime() {
    return Optional.empty();
  }

  /** The memory of the server's process that is in use, in bytes; empty if unknown. */
  default OptionalLong residentBytes() {
    return OptionalLong.empty();
  }

  /**
   * The server's exit code and last log lines; only the log lines if the server is still running.
   */
  ProcessFailure failure();

  /** The last lines of the server's log. */
  List<String> lastLogLines();

  /** The server's output so far. */
  String output();

  /** Adds a listener that is called once if the server ends without {@link #kill}. */
  void onDeath(Consumer<ProcessFailure> listener);

  /**
   * Freezes the server (SIGSTOP), or resumes it (SIGCONT). Its connections stay open.
   *
   * @throws UnsupportedOperationException if this kind of server does not support it
   */
  default void setFrozen(boolean frozen) {
    throw new UnsupportedOperationException("only servers that run as processes can be frozen");
  }

  /**
   * Binds the server to processors.
   *
   * @param processors a list in the format of taskset(1), such as {@code 2-5}
   * @return whether the server is bound
   */
  default boolean pin(String processors) {
    return false;
  }

  /**
   * Limits the server to a number of processors until it ends.
   *
   * @param processors 0.001 or more
   * @throws dev.onehop.testbed.TestbedException if this user or this machine can't limit processes
   * @throws UnsupportedOperationException if this kind of server does not support it
   */
  default void limit(double processors) {
    throw new UnsupportedOperationException("only servers that run as processes can be limited");
  }

  /** Kills the server. */
  void kill();

  /** Waits until the server has ended, some seconds at most. */
  void awaitEnd();
}
