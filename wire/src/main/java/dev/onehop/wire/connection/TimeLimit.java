package dev.onehop.wire.connection;

import java.net.SocketTimeoutException;
import java.time.Duration;

/**
 * Until when a thread may wait, as sockets count it: in milliseconds, 0 for any time. Immutable.
 */
public final class TimeLimit {
  /** Any time. */
  public static final TimeLimit NONE = new TimeLimit(0, 0);

  private final long millis;
  private final long startNanos;

  private TimeLimit(long millis, long startNanos) {
    this.millis = millis;
    this.startNanos = startNanos;
  }

  /** A limit that begins now. */
  public static TimeLimit ofMillis(long millis) {
    return millis <= 0 ? NONE : new TimeLimit(millis, System.nanoTime());
  }

  /** Whether there is one. */
  public boolean isLimited() {
    return millis > 0;
  }

  /** Whether the time is up. */
  public boolean isPassed() {
    return isLimited() && left() <= 0;
  }

  /**
   * What is left of it, at least 1; 0 for any time.
   *
   * @throws SocketTimeoutException if nothing is
   */
  public int remainingMillis() throws SocketTimeoutException {
    if (!isLimited()) {
      return 0;
    }
    long left = left();
    if (left <= 0) {
      throw timedOut();
    }
    return (int) Math.min(left, Integer.MAX_VALUE);
  }

  /**
   * The shorter one of this and another duration; both begin to count now.
   *
   * @param other zero for any time
   */
  TimeLimit atMost(Duration other) throws SocketTimeoutException {
    int left = remainingMillis();
    return ofMillis(
        left == 0 || (!other.isZero() && other.toMillis() < left) ? other.toMillis() : left);
  }

  /** What a plain socket throws. */
  public static SocketTimeoutException timedOut() {
    return new SocketTimeoutException("Read timed out");
  }

  private long left() {
    return millis - (System.nanoTime() - startNanos) / 1_000_000;
  }
}
