package dev.onehop.measure.points;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The unmeasured operations of a client before its measurement. Immutable.
 *
 * @param most the longest time of the warm-up
 * @param least the time after which the warm-up ends if the rate is steady; null if it always takes
 *     {@code most}
 */
public record Warmup(Duration most, @Nullable Duration least) {

  /** A warm-up until the rate is steady, between 8 and 40 seconds. */
  public static final Warmup UNTIL_STEADY =
      new Warmup(Duration.ofSeconds(40), Duration.ofSeconds(8));

  /** The time after which the JVM's optimizing compiler has done most of its work. */
  private static final Duration LONG = Duration.ofSeconds(15);

  /** A warm-up of a fixed time. */
  public static Warmup of(Duration time) {
    return new Warmup(time, null);
  }

  /** Whether the warm-up is long enough for the optimizing compiler. */
  public boolean isLong() {
    return most.compareTo(LONG) >= 0;
  }

  /**
   * Returns the expected time. If the warm-up ends when the rate is steady, the expected time is
   * the mean of the shortest and the longest time.
   */
  Duration expected() {
    return least == null ? most : most.plus(least).dividedBy(2);
  }
}
