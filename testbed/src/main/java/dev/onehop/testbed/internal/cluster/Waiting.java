package dev.onehop.testbed.internal.cluster;

import dev.onehop.testbed.TestbedException;
import java.time.Duration;
import java.util.function.BooleanSupplier;

/** Waiting for something a server does in its own time. */
public final class Waiting {
  private static final long POLL_MILLIS = 10;

  private Waiting() {}

  /**
   * Waits until a condition holds.
   *
   * @param what completes "waited N s for ..." if it does not come about in time
   * @throws TestbedException if it does not, or if the thread is interrupted
   */
  public static void until(String what, Duration atMost, BooleanSupplier condition) {
    long deadline = System.nanoTime() + atMost.toNanos();
    while (!condition.getAsBoolean()) {
      if (System.nanoTime() - deadline > 0) {
        throw new TestbedException("waited %d s for %s".formatted(atMost.toSeconds(), what));
      }
      pause(POLL_MILLIS);
    }
  }

  static void pause(long millis) {
    try {
      Thread.sleep(millis);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new TestbedException("interrupted", e);
    }
  }
}
