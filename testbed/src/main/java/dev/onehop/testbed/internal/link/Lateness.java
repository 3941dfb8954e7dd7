package dev.onehop.testbed.internal.link;

import java.util.concurrent.atomic.AtomicLong;

/**
 * The lateness of timers on this machine: its timer slack and the wake-up time of a sleeping
 * processor, some 50 to 300 µs. Links set their timers earlier by this time, so that their
 * deliveries are late as often as early. The estimate is an exponentially weighted mean of the
 * observed lateness. Several event loops use it; a lost update is harmless.
 */
final class Lateness {
  /**
   * A timer later than this is late because the machine is busy. Links do not compensate for that.
   */
  private static final long MOST_NANOS = 300_000;

  private static final int WEIGHT = 16;

  private final AtomicLong meanNanos = new AtomicLong();

  /** The current estimate. */
  long nanos() {
    return meanNanos.get();
  }

  /**
   * Adds an observation.
   *
   * @param lateNanos the time between the requested and the actual firing of a timer
   */
  void add(long lateNanos) {
    long late = Math.max(0, Math.min(MOST_NANOS, lateNanos));
    var unused = meanNanos.updateAndGet(mean -> mean + (late - mean) / WEIGHT);
  }
}
