package dev.onehop.measure.delivery;

import java.time.Instant;
import java.time.temporal.ChronoUnit;

/**
 * The clock of a process: the time since 1970 at the start of the process plus the monotonic clock.
 * Setting the machine's time therefore changes no measured time.
 */
final class SteadyClock {

  /** The nanoseconds from 1970 until the zero of the monotonic clock. */
  private static final long ZERO_NANOS;

  /**
   * The number of attempts to read the wall clock and the monotonic clock at the same moment. The
   * quickest attempt counts, because the process may pause between the two readings.
   */
  private static final int READINGS = 16;

  static {
    long zero = 0;
    long closest = Long.MAX_VALUE;
    for (int i = 0; i < READINGS; i++) {
      long before = System.nanoTime();
      long wall = ChronoUnit.NANOS.between(Instant.EPOCH, Instant.now());
      long apart = System.nanoTime() - before;
      if (apart < closest) {
        closest = apart;
        zero = wall - before;
      }
    }
    ZERO_NANOS = zero;
  }

  private SteadyClock() {}

  /** The present time in microseconds. */
  static long micros() {
    return (ZERO_NANOS + System.nanoTime()) / 1_000;
  }

  /** Waits until a time of this clock. Returns at once if the time is past. */
  static void sleepUntil(long micros) throws InterruptedException {
    long left = micros - micros();
    if (left > 0) {
      Thread.sleep(left / 1_000, (int) (left % 1_000) * 1_000);
    }
  }
}
