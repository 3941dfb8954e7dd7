package dev.onehop.measure.results;

import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The ratio of two clients' figures over rounds in which both were measured, with its 95 %
 * interval. Each round is a pair of figures, and its ratio is one sample. The interval is the
 * percentile bootstrap of the geometric mean of these ratios. A disturbance that slows down both
 * clients in a round does not widen the interval.
 *
 * <p>With as few as five rounds, a percentile bootstrap is somewhat too narrow.
 *
 * @param ratio the geometric mean of the rounds' ratios
 * @param low the 2.5th percentile of the resamples' geometric means; null with fewer than {@link
 *     Ratios#LEAST_ROUNDS} rounds
 * @param high the 97.5th percentile of these means; null with fewer than {@link
 *     Ratios#LEAST_ROUNDS} rounds
 * @param least the smallest of the rounds' ratios
 * @param most the largest of the rounds' ratios
 * @param rounds the number of rounds in which both clients were measured
 */
public record Bootstrap(
    double ratio,
    @Nullable Double low,
    @Nullable Double high,
    double least,
    double most,
    int rounds) {

  private static final int RESAMPLES = 10_000;

  /**
   * Resamples pairs of figures.
   *
   * @param ours the figure of the first client in each round
   * @param theirs the figure of the second client in each round
   * @param seed the seed of the random choice; the same seed gives the same interval
   * @return empty if there are no figures, or a figure is not above 0
   * @throws IllegalArgumentException if the numbers of figures differ
   */
  static Optional<Bootstrap> ofPairs(List<Double> ours, List<Double> theirs, long seed) {
    int rounds = ours.size();
    if (rounds != theirs.size()) {
      throw new IllegalArgumentException(
          "the clients have " + rounds + " and " + theirs.size() + " figures");
    }
    if (rounds == 0 || Stream.of(ours, theirs).flatMap(List::stream).anyMatch(v -> !(v > 0))) {
      return Optional.empty();
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
    Arrays.sort(logarithms);
    boolean enough = rounds >= Ratios.LEAST_ROUNDS;
    return Optional.of(
        new Bootstrap(
            Math.exp(Arrays.stream(logarithms).average().orElseThrow()),
            enough ? (Double) Math.exp(means[(int) (RESAMPLES * 0.025)]) : null,
            enough ? (Double) Math.exp(means[(int) (RESAMPLES * 0.975) - 1]) : null,
            Math.exp(logarithms[0]),
            Math.exp(logarithms[rounds - 1]),
            rounds));
  }
}
