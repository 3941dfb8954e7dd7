package dev.onehop.measure.points;

import java.time.Duration;

/**
 * Operations at intended times, which do not depend on the replies to earlier operations.
 * Immutable.
 *
 * @param perSecond the number of operations per second
 * @param poisson whether the times are random, as with many independent users; false for evenly
 *     spaced times
 * @param duration the time for which operations are issued, in whole seconds
 */
public record Arrivals(double perSecond, boolean poisson, Duration duration) {

  /** The highest possible rate, in operations per second. */
  public static final double MOST_PER_SECOND = 100_000;

  /** The name of the kind of times, for results and for the binding. */
  String kind() {
    return poisson ? "poisson" : "constant";
  }

  int seconds() {
    return (int) duration.toSeconds();
  }
}
