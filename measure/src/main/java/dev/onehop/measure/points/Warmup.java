package dev.onehop.measure.points;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * How long a client runs unmeasured operations before it is measured. Immutable.
 *
 * @param most the time at most
 * @param least the time after which it ends if the rate is steady; null for {@code most} in any
 *     case
 */
public record Warmup(Duration most, @Nullable Duration least) {

  /** Until the rate is steady, between 8 and 40 seconds. */
  public static final Warmup UNTIL_STEADY =
      new Warmup(Duration.ofSeconds(40), Duration.ofSeconds(8));

  /** From this time on the JVM's optimizing compiler has done most of its work. */
  private static final Duration LONG = Duration.ofSeconds(15);

  /** A warm-up of a fixed time. */
  public static Warmup of(Duration time) {
    return new Warmup(time, null);
  }

  /** Whether it is long enough for the optimizing compiler. */
  public boolean isLong() {
    return most.compareTo(LONG) >= 0;
  }

  /** The expected time: the middle where it ends by the rate. */
  Duration expected() {
    return least == null ? most : most.plus(least).dividedBy(2);
  }
}
