package dev.onehop.ycsb;

import java.util.List;

/**
 * The error of a mean by the method of batch means: the measured time is divided into windows,
 * whose counts are treated as independent.
 *
 * @param windows the number of windows
 * @param error half the width of the 95 % interval of the mean, as a fraction of the mean; infinite
 *     with fewer than two windows or without an operation
 */
record BatchMeans(int windows, double error) {

  /** Student's t at 97.5 %, for 1 to 30 degrees of freedom. */
  private static final double[] T = {
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160,
    2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056,
    2.052, 2.048, 2.045, 2.042
  };

  /** Calculates the error from the counts of windows of equal length. */
  static BatchMeans of(List<Long> counts) {
    int n = counts.size();
    double mean = counts.stream().mapToLong(Long::longValue).average().orElse(0);
    if (n < 2 || mean == 0) {
      return new BatchMeans(n, Double.POSITIVE_INFINITY);
    }
    double squares = counts.stream().mapToDouble(count -> (count - mean) * (count - mean)).sum();
    double deviation = Math.sqrt(squares / (n - 1));
    return new BatchMeans(n, t(n - 1) * deviation / Math.sqrt(n) / mean);
  }

  private static double t(int freedom) {
    // The first terms of the expansion are accurate to 0.001 from 30 degrees of freedom on.
    return freedom <= T.length ? T[freedom - 1] : 1.960 + 2.372 / freedom;
  }
}
