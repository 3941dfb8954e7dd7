package dev.onehop.testbed.internal.link;

import java.util.concurrent.atomic.AtomicLong;

/**
 * How late timers fire on this machine: its timer slack and the time a sleeping processor takes to
 * wake, some 50 to 300 µs. Links ask for their timers that much earlier, so that what they deliver
 * is late as often as early. An exponentially weighted mean of what has been seen; used from
 * several event loops, where a lost update does no harm.
 */
final class Lateness {
  /** Beyond this a timer is late because the machine is busy, which no link should make up for. */
  private static final long MOST_NANOS = 300_000;

  private static final int WEIGHT = 16;

  private final AtomicLong meanNanos = new AtomicLong();

  /** The current estimate. */
  long nanos() {
    return meanNanos.get();
  }

  /**
   * Learns from a timer.
   *
   * @param lateNanos how long after the time asked for it fired
   */
  void add(long lateNanos) {
    long late = Math.max(0, Math.min(MOST_NANOS, lateNanos));
    var unused = meanNanos.updateAndGet(mean -> mean + (late - mean) / WEIGHT);
  }
}
