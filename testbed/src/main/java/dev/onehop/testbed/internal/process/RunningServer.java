package dev.onehop.testbed.internal.process;

import dev.onehop.testbed.ProcessFailure;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Consumer;

/** A server that was started: a process of this machine, or a container. MUST be thread-safe. */
public interface RunningServer {
  /** Whether it has not ended yet. */
  boolean isAlive();

  /** The processor time that it has used so far; empty if that can't be told from here. */
  default Optional<Duration> cpuTime() {
    return Optional.empty();
  }

  /** The memory of its process that is in use, in bytes; empty if that can't be told from here. */
  default OptionalLong residentBytes() {
    return OptionalLong.empty();
  }

  /** How it ended, or, if it hasn't, what it last logged. */
  ProcessFailure failure();

  /** The end of its log. */
  List<String> lastLogLines();

  /** What it has printed so far. */
  String output();

  /** Calls back once if it ends without {@link #kill} having been called. */
  void onDeath(Consumer<ProcessFailure> listener);

  /**
   * Stops it where it is (SIGSTOP), or lets it go on (SIGCONT). Its connections stay.
   *
   * @throws UnsupportedOperationException if that can't be done from here
   */
  default void setFrozen(boolean frozen) {
    throw new UnsupportedOperationException("only servers that run as processes can be frozen");
  }

  /**
   * Keeps it to some processors.
   *
   * @param processors a list as of taskset(1), such as {@code 2-5}
   * @return whether that could be done
   */
  default boolean pin(String processors) {
    return false;
  }

  /**
   * Holds it to so many processors until it ends.
   *
   * @param processors 0.001 or more
   * @throws dev.onehop.testbed.TestbedException if this user or this machine can't do that
   * @throws UnsupportedOperationException if that can't be done from here
   */
  default void limit(double processors) {
    throw new UnsupportedOperationException("only servers that run as processes can be limited");
  }

  /** Ends it at once. */
  void kill();

  /** Waits, some seconds at most, until it is gone. */
  void awaitEnd();
}
