package dev.onehop.measure.results;

import java.util.Locale;

/** What a ratio of two figures says, in words. */
public enum Verdict {
  /** The ratio is above what rounds of one point differ by. */
  FASTER,
  /** It is not. */
  AS_FAST,
  /** It is below. */
  SLOWER;

  /** On a machine that others use, too, single measurements of a point differ by so much. */
  private static final double NOISE = 0.1;

  /**
   * The verdict on a single measurement of each.
   *
   * @param ratio of a figure of which more is better, to the one that it is compared with
   */
  public static Verdict of(double ratio) {
    if (ratio > 1 + NOISE) {
      return FASTER;
    }
    return ratio < 1 - NOISE ? SLOWER : AS_FAST;
  }

  /** Such as {@code 2.0 times as fast as}, {@code as fast as}, or {@code not faster than}. */
  public static String words(double ratio) {
    return switch (of(ratio)) {
      case FASTER -> String.format(Locale.ROOT, "%.1f times as fast as", ratio);
      case AS_FAST -> "as fast as";
      case SLOWER -> String.format(Locale.ROOT, "not faster than (%.2f times)", ratio);
    };
  }
}
