package dev.onehop.resync;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * A signal to stop interrupts the thread of a command, and the JVM waits until that thread has
 * ended: until then it cleans up and reports. Thread-safe.
 */
public final class Interruption implements AutoCloseable {

  private static final long MOST_SECONDS = 60;

  private static final AtomicBoolean STOPPING = new AtomicBoolean();

  private final Thread hook;

  private Interruption(Thread hook) {
    this.hook = hook;
  }

  /**
   * Holds until it is closed.
   *
   * @param thread which is interrupted, and whose end the JVM waits for
   */
  public static Interruption of(Thread thread) {
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

  /** Whether a signal has interrupted a thread, and the JVM ends with it. */
  public static boolean isStopping() {
    return STOPPING.get();
  }

  /** What a run on its own servers failed with: these may end before the thread is interrupted. */
  public Failure failure(Exception cause) {
    return isStopping() ? Failure.interrupted() : Failure.of(cause);
  }

  /** No-op for the signal that has come already. */
  @Override
  public void close() {
    try {
      boolean unused = Runtime.getRuntime().removeShutdownHook(hook);
    } catch (IllegalStateException e) {
      // The JVM is being stopped; the hook runs.
    }
  }
}
