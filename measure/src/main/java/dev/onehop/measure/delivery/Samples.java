package dev.onehop.measure.delivery;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonValue;
import dev.onehop.measure.results.LatencySummary;
import java.nio.file.Path;
import java.util.Arrays;
import org.HdrHistogram.Histogram;

/** All measured times, in microseconds. Their form in JSON is an array. Thread-safe. */
final class Samples {

  private static final int DIGITS = 3;

  private long[] values;
  private int size;

  Samples() {
    this(new long[0]);
  }

  @JsonCreator
  Samples(long[] values) {
    this.values = values.clone();
    this.size = values.length;
  }

  synchronized void add(long micros) {
    if (size == values.length) {
      values = Arrays.copyOf(values, Math.max(256, 2 * size));
    }
    values[size++] = micros;
  }

  /** All times, in the order in which they were added. */
  @JsonValue
  synchronized long[] toArray() {
    return Arrays.copyOf(values, size);
  }

  /** Adds all times of another object. */
  void addAll(Samples others) {
    for (long each : others.toArray()) {
      add(each);
    }
  }

  /**
   * Returns the summary. For example, p99 is the smallest sample that at least 99 % of all samples
   * do not exceed.
   */
  LatencySummary summary() {
    long[] sorted = toArray();
    Arrays.sort(sorted);
    int n = sorted.length;
    if (n == 0) {
      return new LatencySummary(0, 0, 0, 0, 0, 0, 0, 0);
    }
    double mean = Arrays.stream(sorted).average().orElse(0);
    return new LatencySummary(
        n,
        Math.round(mean * 10) / 10.0,
        at(sorted, 500),
        at(sorted, 900),
        at(sorted, 950),
        at(sorted, 990),
        at(sorted, 999),
        sorted[n - 1]);
  }

  /**
   * Returns a percentile. The calculation uses whole numbers: with doubles, 99.9 percent of 1,000
   * are 999.0000001 and not 999.
   */
  private static long at(long[] sorted, long perMille) {
    long rank = (perMille * sorted.length + 999) / 1_000;
    return sorted[(int) Math.max(1, rank) - 1];
  }

  /** Writes the times as an HdrHistogram log. */
  void write(Path file) {
    Histogram histogram = new Histogram(DIGITS);
    for (long each : toArray()) {
      histogram.recordValue(each);
    }
    Lags.write(file, histogram);
  }
}
