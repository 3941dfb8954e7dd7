package dev.onehop.cli;

import dev.onehop.resync.Failure;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * On a signal to stop, interrupts a thread and makes the JVM wait until the thread has cleaned up.
 */
final class Interruption implements AutoCloseable {

  private static final long MOST_SECONDS = 60;

  private final Thread hook;
  private final CountDownLatch ended;
  private final AtomicBoolean asked;

  private Interruption(Thread hook, CountDownLatch ended, AtomicBoolean asked) {
    this.hook = hook;
    this.ended = ended;
    this.asked = asked;
  }

  /**
   * Starts the protection, which ends with {@link #close}.
   *
   * @param thread the thread to interrupt
   */
  static Interruption of(Thread thread) {
    CountDownLatch ended = new CountDownLatch(1);
    AtomicBoolean asked = new AtomicBoolean();
    Thread hook =
        new Thread(
            () -> {
              asked.set(true);
              thread.interrupt();
              try {
                boolean unused = ended.await(MOST_SECONDS, TimeUnit.SECONDS);
              } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
              }
            },
            "onehop-stop");
    Runtime.getRuntime().addShutdownHook(hook);
    return new Interruption(hook, ended, asked);
  }

  /** The failure of a run on its own servers, which may end before the thread is interrupted. */
  Failure failure(Exception cause) {
    return asked.get() ? Failure.interrupted() : Failure.of(cause);
  }

  @Override
  public void close() {
    ended.countDown();
    try {
      boolean unused = Runtime.getRuntime().removeShutdownHook(hook);
    } catch (IllegalStateException e) {
      // The JVM is shutting down and runs the hook.
    }
  }
}
