package dev.onehop.copy.internal.full;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Limits the rate of reads and writes, and makes readers and writers wait while the job is paused.
 * Thread-safe.
 */
public final class Limits {
  private static final long SECOND = TimeUnit.SECONDS.toNanos(1);
  private static final long LOOK_AGAIN_MILLIS = 200;

  private final double documentsPerSecond;
  private final double bytesPerSecond;
  private long next = System.nanoTime();
  private volatile boolean paused;

  /**
   * @param documentsPerSecond the limit of documents per second, may be infinite
   * @param bytesPerSecond the limit of bytes per second, may be infinite
   */
  public Limits(double documentsPerSecond, double bytesPerSecond) {
    this.documentsPerSecond = documentsPerSecond;
    this.bytesPerSecond = bytesPerSecond;
  }

  /** Sets whether the job is paused. */
  public void setPaused(boolean rest) {
    paused = rest;
  }

  /** Waits until the job is not paused and the rates allow this number of documents and bytes. */
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
