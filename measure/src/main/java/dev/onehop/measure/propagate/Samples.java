package dev.onehop.measure.propagate;

import dev.onehop.measure.results.HdrLogs;
import dev.onehop.measure.results.LatencySummary;
import java.nio.file.Path;
import java.util.Arrays;
import org.HdrHistogram.Histogram;

/**
 * Measured times in microseconds, each of them kept. Between two clocks a time may be below zero,
 * and stays so. Thread-safe.
 */
final class Samples {

  private static final int DIGITS = 3;

  private long[] values = new long[256];
  private int size;

  synchronized void add(long micros) {
    if (size == values.length) {
      values = Arrays.copyOf(values, 2 * size);
    }
    values[size++] = micros;
  }

  /** All of them, in the order they were added. */
  synchronized long[] toArray() {
    return Arrays.copyOf(values, size);
  }

  /** Adds all of another one's. */
  void addAll(long[] others) {
    for (long each : others) {
      add(each);
    }
  }

  /** Percentiles are samples: the least one that so many percent do not exceed. */
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

  /** Exact in whole numbers: 99.9 percent of 1,000 are 999, which doubles make 999.0000001. */
  private static long at(long[] sorted, long perMille) {
    long rank = (perMille * sorted.length + 999) / 1_000;
    return sorted[(int) Math.max(1, rank) - 1];
  }

  /**
   * Writes them as an HdrHistogram log. That has no place for values below zero: with two clocks
   * all values are raised by the same number of microseconds, which is the log's tag.
   *
   * @param errorMicros how far the clocks' difference may be from what was taken for it
   */
  void write(Path file, long errorMicros) {
    long[] all = toArray();
    long least = Arrays.stream(all).min().orElse(0);
    long raise = Math.max(errorMicros, Math.max(0, -least));
    Histogram histogram = new Histogram(DIGITS);
    for (long each : all) {
      histogram.recordValue(each + raise);
    }
    if (raise > 0) {
      histogram.setTag("plus-" + raise + "-us");
    }
    HdrLogs.write(file, histogram);
  }
}
