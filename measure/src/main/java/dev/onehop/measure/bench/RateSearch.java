package dev.onehop.measure.bench;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * The search for the highest rate that holds: doubled, or halved, until one holds and another does
 * not, then bisected until these lie 5 % apart. A rate is tried once: what holds is taken to hold
 * below, too.
 */
final class RateSearch {
  private static final double CLOSE = 1.05;

  /** Tries a rate. */
  interface Trial {
    /** Whether a rate, in operations per second, holds. */
    boolean holds(double rate) throws IOException, InterruptedException;
  }

  /**
   * What was found, in operations per second.
   *
   * @param holds the highest rate that held; null if none did
   * @param fails the lowest rate above it that did not; null if all did
   */
  record Found(@Nullable Double holds, @Nullable Double fails) {}

  private final double first;
  private final double least;
  private final double most;

  /**
   * @param first the rate to begin with
   * @param least below it none is tried
   * @param most above it none is tried
   */
  RateSearch(double first, double least, double most) {
    this.first = first;
    this.least = least;
    this.most = most;
  }

  Found run(Trial trial) throws IOException, InterruptedException {
    Double holds = null;
    Double fails = null;
    double rate = first;
    while (true) {
      if (trial.holds(rate)) {
        holds = rate;
      } else {
        fails = rate;
      }
      if (holds != null && fails != null) {
        if (fails / holds <= CLOSE) {
          return new Found(holds, fails);
        }
        rate = rounded(Math.sqrt(holds * fails));
        if (rate <= holds || rate >= fails) {
          return new Found(holds, fails);
        }
      } else if (holds != null) {
        if (rate >= most) {
          return new Found(holds, null);
        }
        rate = Math.min(most, 2 * rate);
      } else {
        if (rate <= least) {
          return new Found(null, fails);
        }
        rate = Math.max(least, rate / 2);
      }
    }
  }

  /** To three digits, which are enough for 5 %. */
  private static double rounded(double rate) {
    double unit = Math.pow(10, Math.floor(Math.log10(rate)) - 2);
    return Math.round(rate / unit) * unit;
  }
}
