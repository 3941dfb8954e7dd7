package dev.onehop.ycsb;

import java.lang.management.CompilationMXBean;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The length of a warm-up. It is a fixed time, or it ends, between a shortest and a longest time,
 * when two conditions hold: the rate of operations is steady, and the JVM's compilers are nearly
 * idle. Both conditions are necessary: on few processors the rate is also steady, but low, while
 * the optimizing compiler works.
 *
 * <p>If the warm-up takes two seconds or more, its last second has the same mix of operations as
 * the run. Thread-safe. Times are by {@link System#nanoTime}.
 */
final class WarmupTime {
  private static final long WINDOW_NANOS = 2_000_000_000;
  private static final long LIKE_THE_RUN_NANOS = 1_000_000_000;

  /** The number of windows that are compared. */
  private static final int LAST = 3;

  /**
   * The largest spread of these windows, as a fraction of their mean. A larger spread is accepted
   * if it is within statistical noise.
   */
  private static final double SPREAD = 0.05;

  /**
   * The largest part of the last window in which compilers may work. The JVM counts the time of a
   * compilation at its end.
   */
  private static final double COMPILING = 0.1;

  private final long startNanos;
  private final long leastNanos;
  private final long windowNanos;
  private final @Nullable LongSupplier compiledMillis;
  private final LongSupplier nanoTime;
  private final LongAdder operations = new LongAdder();
  // Written under the lock.
  private final List<Long> windows = new ArrayList<>();
  private volatile long windowEndNanos;
  private volatile long hotEndNanos;
  private volatile long endNanos;
  private long counted;
  private long compiled;
  private boolean steady;

  /**
   * @param compiledMillis the compilers' working time so far, in milliseconds; null for a fixed
   *     time
   * @param nanoTime {@link System#nanoTime}, or a clock of tests
   */
  WarmupTime(
      Duration least,
      Duration most,
      long windowNanos,
      @Nullable LongSupplier compiledMillis,
      LongSupplier nanoTime) {
    this.startNanos = nanoTime.getAsLong();
    this.nanoTime = nanoTime;
    this.leastNanos = least.toNanos();
    this.compiledMillis = compiledMillis;
    this.windowNanos = windowNanos;
    this.windowEndNanos = startNanos + windowNanos;
    this.endNanos = startNanos + most.toNanos();
    this.hotEndNanos = endNanos - Math.min(LIKE_THE_RUN_NANOS, most.toNanos() / 2);
  }

  /** A warm-up of this length, from now on. */
  static WarmupTime fixed(Duration time) {
    return new WarmupTime(time, time, WINDOW_NANOS, null, System::nanoTime);
  }

  /** A warm-up until the rate is steady and the compilers are nearly idle, from now on. */
  static WarmupTime untilSteady(Duration least, Duration most) {
    CompilationMXBean compilers = ManagementFactory.getCompilationMXBean();
    boolean timed = compilers != null && compilers.isCompilationTimeMonitoringSupported();
    return new WarmupTime(
        least,
        most,
        WINDOW_NANOS,
        timed ? compilers::getTotalCompilationTime : () -> 0,
        System::nanoTime);
  }

  /**
   * Whether the rate of these windows is steady. In the last three windows, the counts may differ
   * by 5 % of the mean, or by two standard deviations of a random count, whichever is more. The
   * counts must not rise from each window to the next.
   */
  static boolean isSteady(List<Long> windows) {
    int size = windows.size();
    if (size < LAST) {
      return false;
    }
    long first = windows.get(size - 3);
    long second = windows.get(size - 2);
    long third = windows.get(size - 1);
    double mean = (first + second + third) / 3.0;
    long spread =
        Math.max(first, Math.max(second, third)) - Math.min(first, Math.min(second, third));
    return spread <= Math.max(SPREAD * mean, 2 * Math.sqrt(mean))
        && !(first < second && second < third);
  }

  /** Counts an operation, and checks the rate at the end of a window. */
  void operation() {
    operations.increment();
    if (compiledMillis != null && nanoTime.getAsLong() - windowEndNanos >= 0) {
      windowEnds(nanoTime.getAsLong(), compiledMillis.getAsLong());
    }
  }

  private synchronized void windowEnds(long now, long nowCompiled) {
    if (now - windowEndNanos < 0 || steady) {
      return;
    }
    boolean compiling = (nowCompiled - compiled) * 1e6 > COMPILING * windowNanos;
    compiled = nowCompiled;
    long sum = operations.sum();
    windows.add(sum - counted);
    counted = sum;
    windowEndNanos = now + windowNanos;
    long end = now + Math.min(LIKE_THE_RUN_NANOS, leastNanos / 2);
    if (end - startNanos >= leastNanos && end - endNanos < 0 && !compiling && isSteady(windows)) {
      steady = true;
      hotEndNanos = now;
      endNanos = end;
    }
  }

  /**
   * The end of the operations that warm up the compilers. It moves to an earlier time if the rate
   * becomes steady.
   */
  long hotEndNanos() {
    return hotEndNanos;
  }

  /**
   * The end of the warm-up for all threads. It may move to an earlier time until {@link
   * #hotEndNanos}.
   */
  long endNanos() {
    return endNanos;
  }

  /** The length of the warm-up in seconds. */
  double seconds() {
    return (endNanos - startNanos) / 1e9;
  }

  /** Whether the rate was steady before the longest time was over; null for a fixed time. */
  synchronized @Nullable Boolean steady() {
    return compiledMillis == null ? null : (Boolean) steady;
  }
}
