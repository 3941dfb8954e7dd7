package dev.onehop.ycsb;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Ends a closed loop after a time from its first operation on, or when the error of its throughput
 * is small enough. YCSB's own limit of time counts connecting and the warm-up, too.
 *
 * <p>The error is that of the {@link BatchMeans} of windows of a second. The first window is left
 * out: no operation can end at its beginning. Thread-safe.
 */
final class RunLength {
  static final String DURATION = "onehop.duration";
  static final String ERROR = "onehop.error";
  static final String WINDOWS = "onehop.windows";

  private static final Map<Path, RunLength> BY_SUMMARY = new ConcurrentHashMap<>();
  private static final int LEAST_WINDOWS = 10;

  private final long durationNanos;
  private final double error;
  private final int leastWindows;
  private final long windowNanos;
  private final LongSupplier nanoTime;
  private final LongAdder operations = new LongAdder();
  private final List<Long> windows = new ArrayList<>();
  private volatile long startNanos;
  private volatile long windowEndNanos;
  private volatile boolean started;
  private volatile boolean over;
  private long counted;

  /**
   * @param duration after which it is over; null for never
   * @param error at which it is over; null for none
   * @param leastWindows how many windows that error is of at least
   * @param nanoTime {@link System#nanoTime}, or a clock of tests
   */
  RunLength(
      @Nullable Duration duration,
      @Nullable Double error,
      int leastWindows,
      long windowNanos,
      LongSupplier nanoTime) {
    this.durationNanos = duration == null ? Long.MAX_VALUE : duration.toNanos();
    this.error = error == null ? 0 : error;
    this.leastWindows = leastWindows;
    this.windowNanos = windowNanos;
    this.nanoTime = nanoTime;
  }

  /**
   * That of a run, the same for all its threads.
   *
   * @throws InvalidPropertyException if a value can't be taken
   */
  static RunLength of(Properties properties) {
    PropertyReader reader = new PropertyReader(properties);
    Duration duration = reader.millis(DURATION);
    Integer windows = reader.positive(WINDOWS);
    RunLength length =
        new RunLength(
            duration.isZero() ? null : duration,
            reader.positiveDecimal(ERROR),
            windows == null ? LEAST_WINDOWS : windows,
            TimeUnit.SECONDS.toNanos(1),
            System::nanoTime);
    String summary = reader.text(BindingOptions.SUMMARY);
    if (summary != null) {
      BY_SUMMARY.put(Path.of(summary), length);
    }
    return length;
  }

  /** What the run with that summary has reached; null if it has no such limit. */
  static @Nullable BatchMeans reached(@Nullable Path summary) {
    RunLength length = summary == null ? null : BY_SUMMARY.get(summary);
    return length == null ? null : length.reached();
  }

  /** Whether no more operations are to begin. To be asked before each. */
  boolean isOver() {
    long now = nanoTime.getAsLong();
    if (!started) {
      start(now);
    }
    return over || now - startNanos >= durationNanos;
  }

  private synchronized void start(long now) {
    if (!started) {
      startNanos = now;
      windowEndNanos = now + windowNanos;
      started = true;
    }
  }

  /** Counts an operation that has ended. */
  void operation() {
    operations.increment();
    long now = nanoTime.getAsLong();
    if (now - windowEndNanos >= 0) {
      windowEnds(now);
    }
  }

  private synchronized void windowEnds(long now) {
    if (now - windowEndNanos < 0) {
      return;
    }
    long sum = operations.sum();
    long passed = 1 + (now - windowEndNanos) / windowNanos;
    // Without an operation for several windows, each gets its part.
    for (long window = 0; window < passed; window++) {
      windows.add((sum - counted) / passed);
    }
    counted = sum;
    windowEndNanos += passed * windowNanos;
    BatchMeans reached = reached();
    over |= reached.windows() >= leastWindows && reached.error() <= error;
  }

  /** The error so far. */
  synchronized BatchMeans reached() {
    return BatchMeans.of(windows.size() < 2 ? List.of() : windows.subList(1, windows.size()));
  }
}
