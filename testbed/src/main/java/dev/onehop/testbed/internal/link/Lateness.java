package dev.onehop.testbed.internal.link;

import java.util.concurrent.atomic.AtomicLong;

/**
 * The lateness of timers on this machine, some 50 to 300 µs. Its causes are the kernel's timer
 * slack and the wake-up time of a sleeping processor. Links set their timers earlier by this time,
 * and their deliveries are then late as often as early. The estimate is an exponentially weighted
 * mean of the observed lateness. Several event loops use one instance without a lock, because a
 * lost update is harmless.
 */
final class Lateness {
  /**
   * The longest lateness that counts. A timer that is even later is late because the machine is
   * busy, and links do not compensate for this.
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
