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
 * Ends a closed loop after a time since its first operation, or when the error of its throughput is
 * small enough. YCSB's own time limit includes connecting and the warm-up.
 *
 * <p>The error comes from {@link BatchMeans} with windows of a second. The first window does not
 * count: at its beginning, no operation has had the time to end. Thread-safe.
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
   * @param duration the time after which the run ends; null for no limit
   * @param error the error at which the run ends, as a fraction of the throughput; null for no
   *     limit
   * @param leastWindows the smallest number of windows from which the error is calculated
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
   * Creates the length of a run, which all threads of the run share.
   *
   * @throws InvalidPropertyException if a value is invalid
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

  /**
   * The error of the throughput of the run with this summary file; null if the run has no limit of
   * this error.
   */
  static @Nullable BatchMeans reached(@Nullable Path summary) {
    RunLength length = summary == null ? null : BY_SUMMARY.get(summary);
    return length == null ? null : length.reached();
  }

  /**
   * Whether the run is over, so that no operation may start. Must be called before each operation.
   */
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
    // If no operation ended during several windows, the count is divided between them.
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
