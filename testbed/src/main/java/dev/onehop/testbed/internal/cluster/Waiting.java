package dev.onehop.testbed.internal.cluster;

import dev.onehop.testbed.TestbedException;
import java.time.Duration;
import java.util.function.BooleanSupplier;

/** Waits until servers fulfil conditions. */
public final class Waiting {
  private static final long POLL_MILLIS = 10;

  private Waiting() {}

  /**
   * Waits until a condition holds.
   *
   * @param what completes the message "waited N s for ..." after a timeout
   * @throws TestbedException if the condition does not hold in time, or if the thread is
   *     interrupted
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
