package dev.onehop.measure.report;

import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Words for the comparison of two figures, the same in all reports. */
final class Verdict {

  /** The assumed relative error of a ratio without an interval. */
  private static final double NOISE = 0.1;

  private Verdict() {}

  /**
   * Returns the comparison of one rate with another rate, such as {@code 2.00 times as fast as}. In
   * a sentence, the name of the other client follows this text.
   *
   * @param ratio the first rate divided by the other rate
   * @param low the lower end of the ratio's 95 % interval; null without an interval
   * @param high the upper end of the interval; null without an interval
   * @param why a possible reason why the first rate is not higher; empty if unknown
   */
  static String faster(double ratio, @Nullable Double low, @Nullable Double high, String why) {
    double least = low == null ? ratio * (1 - NOISE) : low;
    double most = high == null ? ratio * (1 + NOISE) : high;
    if (least > 1) {
      return times(ratio) + " times as fast as";
    }
    return most >= 1
        ? "as fast as"
        : "not faster ("
            + times(ratio)
            + " times"
            + (why.isEmpty() ? "" : ", because " + why)
            + ") than";
  }

  /** Returns the comparison of rates without an interval. */
  static String faster(double ratio, String why) {
    return faster(ratio, null, null, why);
  }

  /** Whether a ratio without an interval shows a higher first rate, even with the assumed error. */
  static boolean isFaster(double ratio) {
    return ratio * (1 - NOISE) > 1;
  }

  /**
   * Returns the comparison of one time with another time, such as {@code 2.00 times shorter than}.
   * In a sentence, the other time follows this text.
   */
  static String shorter(double time, double other) {
    if (time <= 0 || other <= 0) {
      return "not comparable with";
    }
    double ratio = other / time;
    return Math.abs(ratio - 1) < NOISE
        ? "as long as"
        : ratio > 1
            ? times(ratio) + " times shorter than"
            : times(1 / ratio) + " times longer than";
  }

  /** Returns a ratio with two decimals, or as a whole number from 10 on. */
  static String times(double ratio) {
    return String.format(Locale.ROOT, ratio >= 10 ? "%,.0f" : "%.2f", ratio);
  }
}
