package dev.onehop.measure.delivery;

import java.time.Instant;
import java.time.temporal.ChronoUnit;

/**
 * The clock of a process: the time since 1970 at the start of the process plus the monotonic clock.
 * Setting the machine's time therefore changes no measured time.
 */
final class SteadyClock {

  /** The nanoseconds from 1970 until the zero of the monotonic clock. */
  private static final long ZERO_NANOS = zero();

  /**
   * The number of attempts to read the wall clock and the monotonic clock at the same moment. The
   * quickest attempt counts, because the process may pause between the two readings.
   */
  private static final int READINGS = 16;

  private SteadyClock() {}

  private static long zero() {
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
    return zero;
  }

  /** The present time in microseconds. */
  static long micros() {
    return (ZERO_NANOS + System.nanoTime()) / 1_000;
  }

  /**
   * Waits until a moment of a series is due, and returns this moment. Does not wait if it is past.
   *
   * @param begun the first moment of the series
   * @param number the number of the moment, from 0
   */
  static long awaitDue(long begun, long number, double perSecond) throws InterruptedException {
    long due = begun + Math.round(number * 1e6 / perSecond);
    long left = due - micros();
    if (left > 0) {
      Thread.sleep(left / 1_000, (int) (left % 1_000) * 1_000);
    }
    return due;
  }
}
