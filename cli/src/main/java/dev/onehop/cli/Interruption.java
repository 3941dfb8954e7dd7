package dev.onehop.cli;

import dev.onehop.resync.Failure;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

/** Has a signal to stop interrupt a thread, and the JVM wait until that has cleaned up. */
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
   * Holds until it is closed, for which the JVM waits.
   *
   * @param thread which is interrupted
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

  /** What a run on its own servers failed with: these may end before the thread is interrupted. */
  Failure failure(Exception cause) {
    return asked.get() ? Failure.interrupted() : Failure.of(cause);
  }

  @Override
  public void close() {
    ended.countDown();
    try {
      boolean unused = Runtime.getRuntime().removeShutdownHook(hook);
    } catch (IllegalStateException e) {
      // The JVM is being stopped; the hook runs.
    }
  }
}
