package dev.onehop.measure.results;

import org.HdrHistogram.AbstractHistogram;

/**
 * The latencies of one kind of operation at one point, in microseconds, without failed operations.
 *
 * @param count the number of measured operations
 * @param mean the arithmetic mean
 * @param p50 the median
 * @param p90 the 90th percentile; 0 in files of earlier versions
 * @param p95 the 95th percentile
 * @param p99 the 99th percentile
 * @param p999 the 99.9th percentile
 * @param max the latency of the slowest operation
 */
public record LatencySummary(
    long count, double mean, long p50, long p90, long p95, long p99, long p999, long max) {

  /**
   * Returns a figure by its name.
   *
   * @param name {@code n} for the count, {@code mean}, {@code p50}, {@code p90}, {@code p95},
   *     {@code p99}, {@code p99.9} or {@code max}
   * @throws IllegalArgumentException for any other name
   */
  public double figure(String name) {
    return switch (name) {
      case "n" -> count;
      case "mean" -> mean;
      case "p50" -> p50;
      case "p90" -> p90;
      case "p95" -> p95;
      case "p99" -> p99;
      case "p99.9" -> p999;
      case "max" -> max;
      default -> throw new IllegalArgumentException("there is no figure " + name);
    };
  }

  /** Summarises a histogram of microseconds. If it is empty, all percentiles are 0. */
  public static LatencySummary of(AbstractHistogram histogram) {
    return new LatencySummary(
        histogram.getTotalCount(),
        Math.round(histogram.getMean() * 10) / 10.0,
        histogram.getValueAtPercentile(50),
        histogram.getValueAtPercentile(90),
        histogram.getValueAtPercentile(95),
        histogram.getValueAtPercentile(99),
        histogram.getValueAtPercentile(99.9),
        histogram.getMaxValue());
  }
}
