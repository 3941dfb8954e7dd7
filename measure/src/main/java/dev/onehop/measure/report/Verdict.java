package dev.onehop.measure.report;

import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Words for the comparison of two figures, the same in all reports. */
final class Verdict {

  /** A ratio without an interval that is closer to 1 than this shows no difference. */
  private static final double NOISE = 0.1;

  private Verdict() {}

  /**
   * The comparison of one rate with another; the name of the other follows.
   *
   * @param ratio more is better
   * @param low the lower end of its 95 % interval; null without one
   * @param high the upper end; null without one
   * @param why why it may not be faster; empty if unknown
   */
  static String faster(double ratio, @Nullable Double low, @Nullable Double high, String why) {
    double least = low == null ? ratio * (1 - NOISE) : low;
    double most = high == null ? ratio * (1 + NOISE) : high;
    if (least > 1) {
      return times(ratio) + " times as fast as";
    }
    return most >= 1
        ? "as fast as"
        : "not faster (" + times(ratio) + " times" + (why.isEmpty() ? "" : ": " + why) + ") than";
  }

  /** The comparison without an interval. */
  static String faster(double ratio, String why) {
    return faster(ratio, null, null, why);
  }

  /** Whether a ratio without an interval shows a higher speed. */
  static boolean isFaster(double ratio) {
    return ratio * (1 - NOISE) > 1;
  }

  /** The comparison of one time with another; the other follows. */
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

  /** A ratio: two decimals, whole from 10 on. */
  static String times(double ratio) {
    return String.format(Locale.ROOT, ratio >= 10 ? "%,.0f" : "%.2f", ratio);
  }
}
