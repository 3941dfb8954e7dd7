package dev.onehop.shards.catalog;

import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;

/** Spreads the periodic work of many clients over time. */
public final class Jitter {
  private Jitter() {}

  /**
   * A random duration that is at most a little longer or shorter than {@code around}.
   *
   * @param share the largest deviation, as a fraction between 0 and 1
   */
  public static Duration spread(Duration around, double share) {
    double factor = ThreadLocalRandom.current().nextDouble(1 - share, 1 + share);
    return Duration.ofNanos((long) (around.toNanos() * factor));
  }
}
