package dev.onehop.wire.connection;

import java.net.SocketTimeoutException;
import java.time.Duration;

/**
 * The time limit of a thread's wait, in the unit of sockets: milliseconds, 0 for no limit.
 * Immutable.
 */
public final class TimeLimit {
  /** No limit. */
  public static final TimeLimit NONE = new TimeLimit(0, 0);

  private final long millis;
  private final long startNanos;

  private TimeLimit(long millis, long startNanos) {
    this.millis = millis;
    this.startNanos = startNanos;
  }

  /** A limit that starts now. */
  public static TimeLimit ofMillis(long millis) {
    return millis <= 0 ? NONE : new TimeLimit(millis, System.nanoTime());
  }

  /** Whether there is a limit. */
  public boolean isLimited() {
    return millis > 0;
  }

  /** Whether the time is over. */
  public boolean isPassed() {
    return isLimited() && left() <= 0;
  }

  /**
   * The remaining time in milliseconds, at least 1; 0 for no limit.
   *
   * @throws SocketTimeoutException if the time is over
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
   * The shorter of the remaining time and another duration, as a limit that starts now.
   *
   * @param other zero for no limit
   */
  TimeLimit atMost(Duration other) throws SocketTimeoutException {
    int left = remainingMillis();
    return ofMillis(
        left == 0 || (!other.isZero() && other.toMillis() < left) ? other.toMillis() : left);
  }

  /** The exception of a plain socket after a read timeout. */
  public static SocketTimeoutException timedOut() {
    return new SocketTimeoutException("Read timed out");
  }

  private long left() {
    return millis - (System.nanoTime() - startNanos) / 1_000_000;
  }
}
