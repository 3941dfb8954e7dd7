package dev.onehop.measure.report;

import java.util.Collections;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Numbers as a person reads them, the same in the table and in the report. */
final class Format {

  /** What stands where there is no number. */
  static final String NONE = "-";

  /** What {@code bench --peer straight} measures. */
  static final String STRAIGHT =
      "the official driver, each operation straight to its shard's mongod by ranges that were read"
          + " once; a limit, no way to use a cluster";

  private Format() {}

  /** A rate: whole from 100 on, one decimal below. */
  static String rate(@Nullable Double perSecond) {
    if (perSecond == null) {
      return NONE;
    }
    return perSecond >= 100
        ? String.format(Locale.ROOT, "%,.0f", perSecond)
        : String.format(Locale.ROOT, "%.1f", perSecond);
  }

  /** The least and the most of several rates. */
  static String range(List<Double> perSecond) {
    return rate(Collections.min(perSecond)) + "-" + rate(Collections.max(perSecond));
  }

  /** Microseconds as milliseconds: one decimal, two below 10 ms, whole from 1000 ms on. */
  static String millis(double micros) {
    return ofMillis(micros / 1000);
  }

  /** Whole microseconds, as {@link #millis(double)}. */
  static String millis(long micros) {
    return millis((double) micros);
  }

  /** Milliseconds, rounded as {@link #millis(double)}. */
  static String ofMillis(double millis) {
    String format = millis >= 1000 ? "%,.0f" : millis >= 10 ? "%.1f" : "%.2f";
    return String.format(Locale.ROOT, format, millis);
  }

  /** Whole microseconds. */
  static String micros(@Nullable Double micros) {
    return micros == null ? NONE : String.format(Locale.ROOT, "%,.0f", micros);
  }

  /** A fraction as percent without the sign; one decimal where rounding would say 0 or 100. */
  static String percent(@Nullable Double fraction) {
    if (fraction == null) {
      return NONE;
    }
    double percent = fraction * 100;
    boolean coarse = percent == 0 || percent == 100 || (percent >= 0.5 && percent < 99.5);
    if (coarse || percent > 100) {
      return String.format(Locale.ROOT, "%.0f", percent);
    }
    // Never rounds up to a whole that was not reached.
    return String.format(Locale.ROOT, "%.1f", Math.floor(percent * 10) / 10);
  }

  /** One decimal. */
  static String decimal(@Nullable Double value) {
    return value == null ? NONE : String.format(Locale.ROOT, "%,.1f", value);
  }

  /** A whole number. */
  static String whole(@Nullable Number value) {
    return value == null ? NONE : String.format(Locale.ROOT, "%,.0f", value.doubleValue());
  }

  /** A count with thousands separated. */
  static String count(long count) {
    return String.format(Locale.ROOT, "%,d", count);
  }
}
