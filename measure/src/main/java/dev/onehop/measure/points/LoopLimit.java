package dev.onehop.measure.points;

import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The arithmetic of a closed loop. Each thread has one operation in flight and starts the next
 * operation when this one ends. N threads therefore execute at most N / R operations per second at
 * a mean round trip of R seconds. C connections with one operation each execute at most C / R
 * operations per second.
 */
final class LoopLimit {

  private LoopLimit() {}

  /**
   * Returns the mean round trip of operations. The weight of a shard is its share of the
   * operations.
   *
   * @param share the fraction of operations of each shard; the sum need not be 1
   * @param roundTripMillis the round trip from the client's host to each shard's host
   * @return the mean in milliseconds; null if there were no operations or a shard's round trip is
   *     unknown
   */
  static @Nullable Double meanRoundTripMillis(
      Map<String, Double> share, Map<String, Double> roundTripMillis) {
    double weight = 0;
    double sum = 0;
    for (Map.Entry<String, Double> entry : share.entrySet()) {
      if (entry.getValue() == 0) {
        continue;
      }
      Double roundTrip = roundTripMillis.get(entry.getKey());
      if (roundTrip == null) {
        return null;
      }
      weight += entry.getValue();
      sum += entry.getValue() * roundTrip;
    }
    return weight == 0 ? null : sum / weight;
  }

  /**
   * Returns the upper bound of the operations per second.
   *
   * @param underWay the largest number of operations in flight at once
   * @return null if the round trip is unknown or zero
   */
  static @Nullable Double operationsPerSecond(int underWay, @Nullable Double roundTripMillis) {
    return roundTripMillis == null || roundTripMillis <= 0
        ? null
        : underWay * 1000.0 / roundTripMillis;
  }
}
