package dev.onehop.measure.points;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The unmeasured operations of a client before its measurement. Immutable.
 *
 * @param most the longest time
 * @param least the time after which it ends if the rate is steady; null to take {@code most} in any
 *     case
 */
public record Warmup(Duration most, @Nullable Duration least) {

  /** Until the rate is steady, between 8 and 40 seconds. */
  public static final Warmup UNTIL_STEADY =
      new Warmup(Duration.ofSeconds(40), Duration.ofSeconds(8));

  /** After this time the JVM's optimizing compiler has done most of its work. */
  private static final Duration LONG = Duration.ofSeconds(15);

  /** A warm-up of a fixed time. */
  public static Warmup of(Duration time) {
    return new Warmup(time, null);
  }

  /** Whether it is long enough for the optimizing compiler. */
  public boolean isLong() {
    return most.compareTo(LONG) >= 0;
  }

  /** The expected time: the middle between both if it ends by the rate. */
  Duration expected() {
    return least == null ? most : most.plus(least).dividedBy(2);
  }
}
