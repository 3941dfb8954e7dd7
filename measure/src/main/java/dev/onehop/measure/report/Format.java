package dev.onehop.measure.report;

import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Formats numbers for readers, in the same form in a terminal and on a page. */
public final class Format {

  /** The text for a missing number. */
  static final String NONE = "-";

  private Format() {}

  /** Returns a rate: whole from 100 on, with one decimal below 100. */
  static String rate(@Nullable Number perSecond) {
    return perSecond == null
        ? NONE
        : of(perSecond.doubleValue() >= 100 ? "%,.0f" : "%.1f", perSecond);
  }

  /** Returns the smallest and the largest of several values; {@link #NONE} for a single value. */
  static String range(List<Double> values, Function<@Nullable Number, String> format) {
    return values.size() < 2
        ? NONE
        : format.apply(Collections.min(values)) + "-" + format.apply(Collections.max(values));
  }

  /** Returns microseconds as milliseconds, rounded as by {@link #ofMillis}. */
  static String millis(@Nullable Number micros) {
    return micros == null ? NONE : ofMillis(micros.doubleValue() / 1000);
  }

  /**
   * Returns milliseconds: with two decimals below 10 ms, whole from 1000 ms on, and with one
   * decimal between.
   */
  static String ofMillis(@Nullable Number millis) {
    if (millis == null) {
      return NONE;
    }
    double value = millis.doubleValue();
    return of(value >= 1000 ? "%,.0f" : value >= 10 ? "%.1f" : "%.2f", millis);
  }

  /**
   * Returns a fraction as a percentage without the sign, with one decimal if rounding gives 0 or
   * 100.
   */
  static String percent(@Nullable Number fraction) {
    if (fraction == null) {
      return NONE;
    }
    double percent = fraction.doubleValue() * 100;
    boolean coarse = percent == 0 || percent == 100 || (percent >= 0.5 && percent < 99.5);
    // The value is rounded down: 99.98 is 99.9 and not 100.0.
    return coarse || percent > 100
        ? of("%.0f", percent)
        : of("%.1f", Math.floor(percent * 10) / 10);
  }

  /** Returns a number with one decimal. */
  static String decimal(@Nullable Number value) {
    return of("%,.1f", value);
  }

  /** Returns a number with two decimals. */
  static String hundredths(@Nullable Number value) {
    return of("%,.2f", value);
  }

  /** Returns a number with three decimals. */
  static String thousandths(@Nullable Number value) {
    return of("%,.3f", value);
  }

  /** Returns a whole number with separated thousands. */
  static String whole(@Nullable Number value) {
    return value == null ? NONE : of("%,.0f", value.doubleValue());
  }

  /** Returns bytes as MiB, rounded. */
  static String mebibytes(@Nullable Number bytes) {
    return bytes == null ? NONE : whole(Math.round(bytes.doubleValue() / (1 << 20)));
  }

  /** Returns whether a check has passed. A failed check is in capitals. */
  static String yes(boolean passed) {
    return passed ? "yes" : "NO";
  }

  /** Returns a number with a noun, such as {@code 1 thread} or {@code 2 threads}. */
  public static String counted(long count, String noun) {
    return whole(count) + " " + noun + (count == 1 ? "" : noun.endsWith("x") ? "es" : "s");
  }

  private static String of(String format, @Nullable Number value) {
    return value == null ? NONE : String.format(Locale.ROOT, format, value.doubleValue());
  }
}
