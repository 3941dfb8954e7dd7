package dev.onehop.copy.internal.full;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** Limits the rate of readers and writers, and stops them while the job is paused. Thread-safe. */
public final class Limits {
  private static final long SECOND = TimeUnit.SECONDS.toNanos(1);
  private static final long LOOK_AGAIN_MILLIS = 200;

  private final double documentsPerSecond;
  private final double bytesPerSecond;
  private long next = System.nanoTime();
  private volatile boolean paused;

  /**
   * @param documentsPerSecond may be infinite
   * @param bytesPerSecond may be infinite
   */
  public Limits(double documentsPerSecond, double bytesPerSecond) {
    this.documentsPerSecond = documentsPerSecond;
    this.bytesPerSecond = bytesPerSecond;
  }

  /** Pauses or resumes. */
  public void setPaused(boolean rest) {
    paused = rest;
  }

  /** Waits until the rate allows this amount. */
  public void pass(int documents, long bytes) throws InterruptedException {
    while (paused) {
      Thread.sleep(LOOK_AGAIN_MILLIS);
    }
    long until = reserve(documents, bytes);
    while (true) {
      long wait = until - System.nanoTime();
      if (wait <= 0) {
        return;
      }
      if (Thread.interrupted()) {
        throw new InterruptedException();
      }
      LockSupport.parkNanos(wait);
    }
  }

  private synchronized long reserve(int documents, long bytes) {
    double seconds = Math.max(documents / documentsPerSecond, bytes / bytesPerSecond);
    long now = System.nanoTime();
    long begin = next - now > 0 ? next : now;
    next = begin + (long) (seconds * SECOND);
    return begin;
  }
}
