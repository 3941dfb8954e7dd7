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
 * Latencies of operations in microseconds: of all, and of each second in a file of HdrHistogram's
 * log format, whose tags are {@code OPERATION.KIND} or {@code OPERATION.KIND.SHARD}, with the kinds
 * of {@link Kind}. A second is written when the operations that were to be issued in it have ended.
 *
 * <p>Thread-safe.
 */
final class LatencyLog implements AutoCloseable {
  private static final int DIGITS = 3;
  private static final long SECOND = TimeUnit.SECONDS.toNanos(1);

  /** What is measured of an operation. */
  enum Kind {
    /** From the intended time to the answer, in the second of the intended time. */
    INTENDED,
    /** From issuing it to the answer, in the second of the intended time. */
    SERVICE,
    /** From the intended time to the answer, in the second of the answer. */
    ANSWERED,
    /** From the intended time to the failure, in the second of the intended time. */
    FAILED,
    /** From the intended time to the end of the run, issued by then; likewise. */
    UNANSWERED,
    /** From the intended time to the end of the run, not issued by then; likewise. */
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
  // By number.
  private final TreeMap<Long, Interval> intervals = new TreeMap<>();
  private final Map<Series, Histogram> totals = new HashMap<>();

  /**
   * @param path of the file, or null for none
   * @param startNanos when the first second begins, as of {@link System#nanoTime}
   * @throws InvalidPropertyException if the file can't be written
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

  /** An operation is under way whose intended time this is. */
  synchronized void begins(long intendedNanos) {
    interval(intendedNanos).underWay++;
  }

  /** An operation was answered. */
  synchronized void answered(
      String operation, @Nullable String shard, long intended, long begun, long now) {
    add(intended, new Series(operation, Kind.INTENDED, shard), now - intended);
    add(intended, new Series(operation, Kind.SERVICE, shard), now - begun);
    add(now, new Series(operation, Kind.ANSWERED, shard), now - intended);
    interval(intended).underWay--;
  }

  /**
   * An operation has failed, or is given up.
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

  /** Writes the seconds that are over and of which all is known. */
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

  /** What was measured so far, by operation, shards together. */
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

  /** Writes what is not written yet. */
  @Override
  public synchronized void close() {
    intervals.forEach(this::write);
    intervals.clear();
    if (file != null) {
      file.close();
    }
  }
}
