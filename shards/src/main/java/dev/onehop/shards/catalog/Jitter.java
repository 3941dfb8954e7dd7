package dev.onehop.shards.catalog;

import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;

/** Spreads what many clients do at intervals, so that they don't all do it at once. */
public final class Jitter {
  private Jitter() {}

  /**
   * A random duration around another one.
   *
   * @param share how far from it at the most, as a fraction between 0 and 1
   */
  public static Duration spread(Duration around, double share) {
    double factor = ThreadLocalRandom.current().nextDouble(1 - share, 1 + share);
    return Duration.ofNanos((long) (around.toNanos() * factor));
  }
}
