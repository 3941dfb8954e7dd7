package dev.onehop.copy.verify;

import java.util.concurrent.TimeUnit;

/** Lets a number of documents per second pass, shared by all threads. */
final class Pace {
  private static final long LONGEST_CREDIT = TimeUnit.MILLISECONDS.toNanos(100);

  private final double nanosPerDocument;
  private double free =
      (double) System.nanoTime(); // when the next document may pass; guarded by this

  /**
   * @param perSecond 0 for no limit
   */
  Pace(double perSecond) {
    nanosPerDocument = perSecond == 0 ? 0 : TimeUnit.SECONDS.toNanos(1) / perSecond;
  }

  /** Waits until this many documents more may pass. */
  void await(int documents) throws InterruptedException {
    if (nanosPerDocument == 0) {
      return;
    }
    long wait;
    synchronized (this) {
      long now = System.nanoTime();
      free = Math.max(free, (double) (now - LONGEST_CREDIT)) + documents * nanosPerDocument;
      wait = (long) (free - now);
    }
    if (wait > 0) {
      TimeUnit.NANOSECONDS.sleep(wait);
    }
  }
}
