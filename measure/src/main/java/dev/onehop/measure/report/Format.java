package dev.onehop.measure.report;

import java.util.Collections;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Numbers in readable form, the same in a terminal and on a page. */
public final class Format {

  /** The text for a missing number. */
  static final String NONE = "-";

  private Format() {}

  /** A rate: whole from 100 on, one decimal below. */
  static String rate(@Nullable Number perSecond) {
    return perSecond == null
        ? NONE
        : of(perSecond.doubleValue() >= 100 ? "%,.0f" : "%.1f", perSecond);
  }

  /** The smallest and the largest of several rates; {@link #NONE} for a single one. */
  static String range(List<Double> perSecond) {
    return perSecond.size() < 2
        ? NONE
        : rate(Collections.min(perSecond)) + "-" + rate(Collections.max(perSecond));
  }

  /** Microseconds as milliseconds, rounded as by {@link #ofMillis}. */
  static String millis(@Nullable Number micros) {
    return micros == null ? NONE : ofMillis(micros.doubleValue() / 1000);
  }

  /** Milliseconds: one decimal, two below 10 ms, whole from 1000 ms on. */
  static String ofMillis(@Nullable Number millis) {
    if (millis == null) {
      return NONE;
    }
    double value = millis.doubleValue();
    return of(value >= 1000 ? "%,.0f" : value >= 10 ? "%.1f" : "%.2f", millis);
  }

  /** A fraction as percent without the sign; one decimal if rounding would give 0 or 100. */
  static String percent(@Nullable Number fraction) {
    if (fraction == null) {
      return NONE;
    }
    double percent = fraction.doubleValue() * 100;
    boolean coarse = percent == 0 || percent == 100 || (percent >= 0.5 && percent < 99.5);
    // Never rounds up to a whole number that was not reached.
    return coarse || percent > 100
        ? of("%.0f", percent)
        : of("%.1f", Math.floor(percent * 10) / 10);
  }

  /** One decimal. */
  static String decimal(@Nullable Number value) {
    return of("%,.1f", value);
  }

  /** Two decimals. */
  static String hundredths(@Nullable Number value) {
    return of("%,.2f", value);
  }

  /** Three decimals. */
  static String thousandths(@Nullable Number value) {
    return of("%,.3f", value);
  }

  /** A whole number with thousands separated. */
  static String whole(@Nullable Number value) {
    return value == null ? NONE : of("%,.0f", value.doubleValue());
  }

  /** Bytes as MiB, rounded. */
  static String mebibytes(@Nullable Number bytes) {
    return bytes == null ? NONE : whole(Math.round(bytes.doubleValue() / (1 << 20)));
  }

  /** A number with its noun, in the singular for 1. */
  public static String counted(long count, String noun) {
    return whole(count) + " " + noun + (count == 1 ? "" : noun.endsWith("x") ? "es" : "s");
  }

  private static String of(String format, @Nullable Number value) {
    return value == null ? NONE : String.format(Locale.ROOT, format, value.doubleValue());
  }
}
