package dev.onehop.ycsb;

import java.io.FileNotFoundException;
import java.io.FileOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.HistogramLogWriter;
import org.HdrHistogram.Recorder;
import org.jspecify.annotations.Nullable;

/**
 * Latencies of operations in microseconds: of all, and of each second in a file of HdrHistogram's
 * log format, version 2. Its tags are {@code OPERATION.intended[.SHARD]}, from the intended time,
 * {@code OPERATION.service[.SHARD]}, from when the operation was issued, and {@code
 * OPERATION.failed[.SHARD]}, from the intended time to the failure. An interval is that of the
 * answers.
 *
 * <p>{@link #answered} and its like may be called by any thread, the rest by one.
 */
final class LatencyLog implements AutoCloseable {
  private static final int DIGITS = 3;
  private static final long LONGEST_MICROS = TimeUnit.HOURS.toMicros(1);

  /** What is measured of an operation. */
  enum Kind {
    /** From the intended time to the answer. */
    INTENDED("intended"),
    /** From issuing it to the answer. */
    SERVICE("service"),
    /** From the intended time to the failure, or to the end of the run if there is no answer. */
    FAILED("failed");

    private final String tag;

    Kind(String tag) {
      this.tag = tag;
    }
  }

  private record Series(String operation, Kind kind, @Nullable String shard) {
    String tag() {
      return operation + "." + kind.tag + (shard == null ? "" : "." + shard);
    }
  }

  private final Map<Series, Recorder> recorders = new ConcurrentHashMap<>();
  private final Map<Series, Histogram> totals = new ConcurrentHashMap<>();
  private final @Nullable HistogramLogWriter writer;
  private final @Nullable PrintStream file;

  /**
   * @param path of the file, or null for none
   * @throws InvalidPropertyException if it can't be written
   */
  LatencyLog(@Nullable Path path) {
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
    long now = System.currentTimeMillis();
    writer.outputStartTime(now);
    writer.setBaseTime(now);
    writer.outputLegend();
  }

  void record(String operation, Kind kind, @Nullable String shard, long nanos) {
    recorders
        .computeIfAbsent(
            new Series(operation, kind, shard), series -> new Recorder(LONGEST_MICROS, DIGITS))
        .recordValue(Math.min(LONGEST_MICROS, Math.max(0, TimeUnit.NANOSECONDS.toMicros(nanos))));
  }

  /** Writes what was measured since the last time. */
  void interval() {
    recorders.forEach(
        (series, recorder) -> {
          Histogram interval = recorder.getIntervalHistogram();
          if (interval.getTotalCount() > 0) {
            totals
                .computeIfAbsent(series, each -> new Histogram(LONGEST_MICROS, DIGITS))
                .add(interval);
            if (writer != null) {
              interval.setTag(series.tag());
              writer.outputIntervalHistogram(interval);
            }
          }
        });
    if (file != null) {
      file.flush();
    }
  }

  /** All that was measured up to the last interval, by operation, shards together. */
  Map<String, Histogram> totals(Kind kind) {
    Map<String, Histogram> found = new TreeMap<>();
    totals.forEach(
        (series, histogram) -> {
          if (series.kind() == kind) {
            found
                .computeIfAbsent(series.operation(), each -> new Histogram(LONGEST_MICROS, DIGITS))
                .add(histogram);
          }
        });
    return found;
  }

  @Override
  public void close() {
    interval();
    if (file != null) {
      file.close();
    }
  }
}
