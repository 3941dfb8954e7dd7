package dev.onehop.routing.internal.affinity;

import java.time.Duration;

/**
 * How far a shard is by way of a mongos, from this client.
 *
 * @param toRouter the round trip to the mongos
 * @param toShard the rest of the way: from there to the shard's primary and back, never negative
 */
public record Distance(Duration toRouter, Duration toShard) {

  /**
   * From two measured round trips.
   *
   * @param toRouter of a command that the mongos answers by itself
   * @param whole of one that it sends on to the shard
   */
  public static Distance of(Duration toRouter, Duration whole) {
    Duration rest = whole.minus(toRouter);
    return new Distance(toRouter, rest.isNegative() ? Duration.ZERO : rest);
  }

  /** The whole way. */
  public Duration whole() {
    return toRouter.plus(toShard);
  }
}
