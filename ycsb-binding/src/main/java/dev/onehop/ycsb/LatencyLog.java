package dev.onehop.ycsb;

import java.io.FileNotFoundException;
import java.io.FileOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.HistogramLogWriter;
import org.jspecify.annotations.Nullable;

/**
 * Latencies of operations in microseconds, in total and per second. The seconds are in a file of
 * HdrHistogram's log format, with tags {@code OPERATION.KIND} or {@code OPERATION.KIND.SHARD} for
 * the kinds of {@link Kind}. A second is written when all operations intended for it have ended.
 *
 * <p>Thread-safe.
 */
final class LatencyLog implements AutoCloseable {
  private static final int DIGITS = 3;
  private static final long SECOND = TimeUnit.SECONDS.toNanos(1);

  /** The time that is measured, and the second of the run to which the latency belongs. */
  enum Kind {
    /** From the intended time to the reply, in the second of the intended time. */
    INTENDED,
    /** From the issue to the reply, in the second of the intended time. */
    SERVICE,
    /** From the intended time to the reply, in the second of the reply. */
    ANSWERED,
    /** From the intended time to the failure, in the second of the intended time. */
    FAILED,
    /**
     * From the intended time to the end of the run, for issued operations; in the second of the
     * intended time.
     */
    UNANSWERED,
    /**
     * From the intended time to the end of the run, for operations that were not issued; in the
     * second of the intended time.
     */
    NOT_ISSUED;

    private final String tag = name().toLowerCase(Locale.ROOT).replace("_", "");
  }

  private record Series(String operation, Kind kind, @Nullable String shard) {
    String tag() {
      return operation + "." + kind.tag + (shard == null ? "" : "." + shard);
    }
  }

  /** A second of the run. */
  private static final class Interval {
    private final Map<Series, Histogram> histograms = new HashMap<>();
    private int underWay;
  }

  private final long startNanos;
  private final long startMillis = System.currentTimeMillis();
  private final @Nullable PrintStream file;
  private final @Nullable HistogramLogWriter writer;
  // The seconds that are not written yet, by their number from the start of the run.
  private final TreeMap<Long, Interval> intervals = new TreeMap<>();
  private final Map<Series, Histogram> totals = new HashMap<>();

  /**
   * @param path the path of the file; null for no file
   * @param startNanos the start of the first second, by {@link System#nanoTime}
   * @throws InvalidPropertyException if the file cannot be written
   */
  LatencyLog(@Nullable Path path, long startNanos) {
    this.startNanos = startNanos;
    if (path == null) {
      file = null;
      writer = null;
      return;
    }
    try {
      file = new PrintStream(new FileOutputStream(path.toFile()), false, StandardCharsets.US_ASCII);
    } catch (FileNotFoundException e) {
      throw new InvalidPropertyException("cannot write " + path, e);
    }
    writer = new HistogramLogWriter(file);
    writer.outputLogFormatVersion();
    writer.outputBaseTime(startMillis);
    writer.setBaseTime(startMillis);
    writer.outputStartTime(startMillis);
    writer.outputLegend();
  }

  /**
   * Adds an operation with this intended time. The second of this time is not written before the
   * operation has ended.
   */
  synchronized void begins(long intendedNanos) {
    interval(intendedNanos).underWay++;
  }

  /** Records the reply to an operation. */
  synchronized void answered(
      String operation, @Nullable String shard, long intended, long begun, long now) {
    add(intended, new Series(operation, Kind.INTENDED, shard), now - intended);
    add(intended, new Series(operation, Kind.SERVICE, shard), now - begun);
    add(now, new Series(operation, Kind.ANSWERED, shard), now - intended);
    interval(intended).underWay--;
  }

  /**
   * Records that an operation has failed or was abandoned.
   *
   * @param kind one of {@link Kind#FAILED}, {@link Kind#UNANSWERED}, {@link Kind#NOT_ISSUED}
   */
  synchronized void missed(
      String operation, Kind kind, @Nullable String shard, long intended, long now) {
    add(intended, new Series(operation, kind, shard), now - intended);
    interval(intended).underWay--;
  }

  private void add(long when, Series series, long nanos) {
    long micros = TimeUnit.NANOSECONDS.toMicros(Math.max(0, nanos));
    interval(when)
        .histograms
        .computeIfAbsent(series, each -> new Histogram(DIGITS))
        .recordValue(micros);
    totals.computeIfAbsent(series, each -> new Histogram(DIGITS)).recordValue(micros);
  }

  private Interval interval(long nanos) {
    return intervals.computeIfAbsent(
        Math.max(0, nanos - startNanos) / SECOND, number -> new Interval());
  }

  /** Writes the past seconds whose operations have all ended. */
  synchronized void flush(long now) {
    long current = Math.max(0, now - startNanos) / SECOND;
    intervals
        .headMap(current)
        .entrySet()
        .removeIf(
            each -> {
              boolean complete = each.getValue().underWay == 0;
              if (complete) {
                write(each.getKey(), each.getValue());
              }
              return complete;
            });
  }

  private void write(long number, Interval interval) {
    if (writer == null || file == null) {
      return;
    }
    long from = startMillis + number * 1000;
    interval.histograms.forEach(
        (series, histogram) -> {
          histogram.setTag(series.tag());
          histogram.setStartTimeStamp(from);
          histogram.setEndTimeStamp(from + 1000);
          writer.outputIntervalHistogram(histogram);
        });
    file.flush();
  }

  /** The latencies so far by operation, for all shards together. */
  synchronized Map<String, Histogram> totals(Kind kind) {
    Map<String, Histogram> found = new TreeMap<>();
    totals.forEach(
        (series, histogram) -> {
          if (series.kind() == kind) {
            found.computeIfAbsent(series.operation(), each -> new Histogram(DIGITS)).add(histogram);
          }
        });
    return found;
  }

  /** Writes the remaining seconds. */
  @Override
  public synchronized void close() {
    intervals.forEach(this::write);
    intervals.clear();
    if (file != null) {
      file.close();
    }
  }
}
