package dev.onehop.measure.bench;

import dev.onehop.measure.frame.BenchCluster;
import dev.onehop.measure.frame.ClusterSource;
import dev.onehop.resync.Failure;
import dev.onehop.resync.Progress;
import dev.onehop.resync.Terminal;
import dev.onehop.testbed.TestbedException;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;

/**
 * Opens a cluster, runs the work on it, shows progress, and closes the cluster. Keeps the results,
 * also when the JVM gets a signal to stop. Used once.
 */
public final class ClusterSession {

  /** What is done. */
  public interface Work {
    /**
     * Does it.
     *
     * @throws Failure if it can't be finished
     */
    void run();

    /**
     * Ends it and keeps what was found; called on another thread.
     *
     * @return what was kept, for a person
     */
    String interrupt();

    /** A server ended by itself, which ends the work; called on another thread. */
    void serverDied(String message);
  }

  private final ClusterSource source;
  private final Terminal terminal;
  private final BiFunction<BenchCluster, Progress, Work> prepare;
  private @Nullable Work work;
  private @Nullable BenchCluster cluster;
  private volatile boolean interrupted;

  /**
   * Prepares a session.
   *
   * @param source where the cluster comes from
   * @param prepare makes the work once the cluster is there
   */
  public ClusterSession(
      ClusterSource source, Terminal terminal, BiFunction<BenchCluster, Progress, Work> prepare) {
    this.source = source;
    this.terminal = terminal;
    this.prepare = prepare;
  }

  /** Runs it. Returns why it ended early, or null. */
  public @Nullable Failure run() {
    try (Progress progress = Progress.start(terminal)) {
      Thread hook = new Thread(() -> interrupt(progress), "onehop-stop");
      Runtime.getRuntime().addShutdownHook(hook);
      try {
        run(progress);
        return null;
      } catch (Failure e) {
        return e;
      } catch (TestbedException e) {
        return Failure.run(e.getMessage() == null ? e.toString() : e.getMessage(), e);
      } finally {
        if (interrupted) {
          // The JVM is being stopped: its hooks have the last word, not this thread.
          waitForTheEnd();
        }
        close(progress);
        removeHook(hook);
      }
    }
  }

  private void run(Progress progress) {
    BenchCluster opened = source.open(progress);
    synchronized (this) {
      cluster = opened;
    }
    Work next = prepare.apply(opened, progress);
    synchronized (this) {
      work = next;
    }
    opened.onServerDeath(next::serverDied);
    next.run();
  }

  /** Runs when the JVM gets a signal to stop: the testbed's own hook ends the servers. */
  private void interrupt(Progress progress) {
    interrupted = true;
    progress.close();
    Work current;
    synchronized (this) {
      current = work;
    }
    System.err.println("onehop: interrupted" + (current == null ? "" : "; " + current.interrupt()));
  }

  private void close(Progress progress) {
    BenchCluster opened;
    synchronized (this) {
      opened = cluster;
    }
    if (opened != null) {
      progress.lastPhase("stopping servers");
      opened.close();
    }
  }

  private static void removeHook(Thread hook) {
    try {
      boolean unused = Runtime.getRuntime().removeShutdownHook(hook);
    } catch (IllegalStateException e) {
      // The JVM is being stopped; the hook runs.
    }
  }

  @SuppressWarnings("ThreadJoinLoop") // Not to be interrupted: the JVM ends under this thread.
  private static void waitForTheEnd() {
    while (true) {
      try {
        Thread.sleep(Long.MAX_VALUE);
      } catch (InterruptedException e) {
        // Goes on waiting.
      }
    }
  }
}
