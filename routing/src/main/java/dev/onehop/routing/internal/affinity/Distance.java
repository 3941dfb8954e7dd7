package dev.onehop.routing.internal.affinity;

import java.time.Duration;

/**
 * The distance from this client to a shard over a mongos.
 *
 * @param toRouter the round trip to the mongos
 * @param toShard the round trip from the mongos to the shard's primary, never negative
 */
public record Distance(Duration toRouter, Duration toShard) {

  /**
   * Calculates the distance from two measured round trips.
   *
   * @param toRouter the round trip of a command that the mongos executes itself
   * @param whole the round trip of a command that the mongos sends to the shard
   */
  public static Distance of(Duration toRouter, Duration whole) {
    Duration rest = whole.minus(toRouter);
    return new Distance(toRouter, rest.isNegative() ? Duration.ZERO : rest);
  }

  /** The round trip from this client to the shard. */
  public Duration whole() {
    return toRouter.plus(toShard);
  }
}
