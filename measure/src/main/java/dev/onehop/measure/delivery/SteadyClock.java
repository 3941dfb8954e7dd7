package dev.onehop.measure.delivery;

import java.time.Instant;

/**
 * The clock of a process: the time since 1970 at the start of the process plus the monotonic clock.
 * Setting the machine's time therefore changes no measured time.
 */
final class SteadyClock {

  private static final long START_NANOS;
  private static final long START_MICROS;

  /**
   * The number of attempts to read the wall clock and the monotonic clock at the same moment. The
   * quickest attempt counts, because the process may pause between the two readings.
   */
  private static final int READINGS = 16;

  static {
    long nanos = 0;
    long micros = 0;
    long closest = Long.MAX_VALUE;
    for (int i = 0; i < READINGS; i++) {
      long before = System.nanoTime();
      long wall = wallMicros();
      long apart = System.nanoTime() - before;
      if (apart < closest) {
        closest = apart;
        nanos = before;
        micros = wall;
      }
    }
    START_NANOS = nanos;
    START_MICROS = micros;
  }

  private SteadyClock() {}

  private static long wallMicros() {
    Instant now = Instant.now();
    return now.getEpochSecond() * 1_000_000 + now.getNano() / 1_000;
  }

  /** The present time in microseconds. */
  static long micros() {
    return START_MICROS + (System.nanoTime() - START_NANOS) / 1_000;
  }

  /** Waits until a time of this clock. Returns at once if the time is past. */
  static void sleepUntil(long micros) throws InterruptedException {
    long left = micros - micros();
    if (left > 0) {
      Thread.sleep(left / 1_000, (int) (left % 1_000) * 1_000);
    }
  }
}
