package dev.onehop.routing.internal.wire;

import dev.onehop.routing.internal.wire.WireSettings.PoolLimits;
import java.time.Duration;

/** How long a pool's connection has been there, and unused. Guarded by the pool's lock. */
final class Lifetime {
  private final int generation;
  private final long openedAtNanos;
  private long idleSinceNanos;

  /**
   * @param generation the pool's, when the connection began to be opened
   * @param now when it was opened, by {@link System#nanoTime}
   */
  Lifetime(int generation, long now) {
    this.generation = generation;
    this.openedAtNanos = now;
    this.idleSinceNanos = now;
  }

  int generation() {
    return generation;
  }

  void idleSince(long now) {
    idleSinceNanos = now;
  }

  /** Whether the connection is to serve no further request. */
  boolean isOver(PoolLimits limits, int poolsGeneration, long now) {
    return generation != poolsGeneration
        || exceeds(limits.maxLife(), now - openedAtNanos)
        || exceeds(limits.maxIdle(), now - idleSinceNanos);
  }

  private static boolean exceeds(Duration limit, long nanos) {
    return !limit.isZero() && nanos > limit.toNanos();
  }
}
