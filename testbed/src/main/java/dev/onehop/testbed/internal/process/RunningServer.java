package dev.onehop.testbed.internal.process;

import dev.onehop.testbed.ProcessFailure;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Consumer;

/** A server that was started: a process of this machine, or a container. MUST be thread-safe. */
public interface RunningServer {
  /** Whether it is still running. */
  boolean isAlive();

  /** The processor time that it has used so far; empty if unknown. */
  default Optional<Duration> cpuTime() {
    return Optional.empty();
  }

  /** The memory of its process that is in use, in bytes; empty if unknown. */
  default OptionalLong residentBytes() {
    return OptionalLong.empty();
  }

  /** Its exit and last log lines; if it is still running, only the log lines. */
  ProcessFailure failure();

  /** The last lines of its log. */
  List<String> lastLogLines();

  /** Its output so far. */
  String output();

  /** Adds a listener that is called once if the server ends without {@link #kill}. */
  void onDeath(Consumer<ProcessFailure> listener);

  /**
   * Freezes it (SIGSTOP), or resumes it (SIGCONT). Its connections stay open.
   *
   * @throws UnsupportedOperationException if this kind of server does not support it
   */
  default void setFrozen(boolean frozen) {
    throw new UnsupportedOperationException("only servers that run as processes can be frozen");
  }

  /**
   * Binds it to processors.
   *
   * @param processors a list in the format of taskset(1), such as {@code 2-5}
   * @return whether it is bound
   */
  default boolean pin(String processors) {
    return false;
  }

  /**
   * Limits it to a number of processors until it ends.
   *
   * @param processors 0.001 or more
   * @throws dev.onehop.testbed.TestbedException if this user or this machine can't do that
   * @throws UnsupportedOperationException if this kind of server does not support it
   */
  default void limit(double processors) {
    throw new UnsupportedOperationException("only servers that run as processes can be limited");
  }

  /** Kills it. */
  void kill();

  /** Waits, some seconds at most, until it has ended. */
  void awaitEnd();
}
