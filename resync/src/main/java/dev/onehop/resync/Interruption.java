package dev.onehop.resync;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * On a signal to stop, interrupts the thread of a command. The JVM then waits until the thread has
 * cleaned up and ended, for 60 seconds at most. Thread-safe.
 */
public final class Interruption implements AutoCloseable {

  private static final long MOST_SECONDS = 60;

  private static final AtomicBoolean STOPPING = new AtomicBoolean();

  private final Thread hook;

  private Interruption(Thread hook) {
    this.hook = hook;
  }

  /**
   * From now on until {@link #close}, a signal to stop interrupts the calling thread. The JVM then
   * waits for the thread's end.
   */
  public static Interruption ofThisThread() {
    Thread thread = Thread.currentThread();
    Thread hook = new Thread(() -> interrupt(thread), "onehop-stop");
    Runtime.getRuntime().addShutdownHook(hook);
    return new Interruption(hook);
  }

  private static void interrupt(Thread thread) {
    STOPPING.set(true);
    thread.interrupt();
    try {
      thread.join(TimeUnit.SECONDS.toMillis(MOST_SECONDS));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /**
   * Checks that this thread is not interrupted. Long work that never waits calls this method.
   *
   * @throws InterruptedException if the thread is interrupted
   */
  public static void check() throws InterruptedException {
    if (Thread.interrupted()) {
      throw new InterruptedException();
    }
  }

  /**
   * Runs a step to its end although this thread was interrupted. Interrupts the thread again after
   * the step.
   */
  public static void suspend(Runnable step) {
    boolean interrupted = Thread.interrupted();
    try {
      step.run();
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /** Whether a signal has interrupted a thread. The JVM is then about to end. */
  public static boolean isStopping() {
    return STOPPING.get();
  }

  /**
   * Returns the failure of a run for an exception. After a signal it is always an interruption: the
   * servers of the run get the signal, too, and their end can cause other exceptions first.
   */
  public static Failure failure(Exception cause) {
    return isStopping() ? Failure.interrupted() : Failure.of(cause);
  }

  /**
   * From now on, a signal no longer interrupts the thread. Does nothing if a signal has already
   * come.
   */
  @Override
  public void close() {
    try {
      boolean unused = Runtime.getRuntime().removeShutdownHook(hook);
    } catch (IllegalStateException e) {
      // The JVM is shutting down, so hooks can no longer be removed.
    }
  }
}
