package dev.onehop.measure.results;

import java.util.Arrays;
import java.util.List;
import java.util.Random;

/**
 * The ratio of two clients' figures over rounds in which both were measured, with its 95 %
 * interval. The interval is the percentile bootstrap over the rounds, as pairs, of the geometric
 * mean of their ratios. A disturbance that slows both down in a round does not widen it.
 *
 * <p>With as few as five rounds, a percentile bootstrap is somewhat too narrow.
 *
 * @param ratio the geometric mean of the rounds' ratios
 * @param low the 2.5th percentile of the resamples' geometric means
 * @param high the 97.5th percentile
 */
record Bootstrap(double ratio, double low, double high) {

  private static final int RESAMPLES = 10_000;

  /**
   * Resamples pairs of figures.
   *
   * @param ours figures above 0
   * @param theirs figures above 0, the same number
   * @param seed of the random choice: the same seed gives the same interval
   * @throws IllegalArgumentException if there are no figures, or different numbers of them
   */
  static Bootstrap ofPairs(List<Double> ours, List<Double> theirs, long seed) {
    int rounds = ours.size();
    if (rounds == 0 || rounds != theirs.size()) {
      throw new IllegalArgumentException(rounds + " figures and " + theirs.size());
    }
    double[] logarithms = new double[rounds];
    for (int i = 0; i < rounds; i++) {
      logarithms[i] = Math.log(ours.get(i) / theirs.get(i));
    }
    Random random = new Random(seed);
    double[] means = new double[RESAMPLES];
    for (int i = 0; i < RESAMPLES; i++) {
      double sum = 0;
      for (int j = 0; j < rounds; j++) {
        sum += logarithms[random.nextInt(rounds)];
      }
      means[i] = sum / rounds;
    }
    Arrays.sort(means);
    return new Bootstrap(
        Math.exp(Arrays.stream(logarithms).average().orElseThrow()),
        Math.exp(means[(int) (RESAMPLES * 0.025)]),
        Math.exp(means[(int) (RESAMPLES * 0.975) - 1]));
  }
}
