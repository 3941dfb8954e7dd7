package dev.onehop.measure.points;

import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The arithmetic of a closed loop. Each thread has one operation in flight and starts the next when
 * it ends. So N threads do at most N / R operations per second at a mean round trip R. And C
 * connections with one operation each do at most C / R.
 */
final class LoopLimit {

  private LoopLimit() {}

  /**
   * The mean round trip of operations, weighted by the shard that served them.
   *
   * @param share the fraction of operations per shard; need not add up to 1
   * @param roundTripMillis the round trip from the client's host to each shard's host
   * @return milliseconds, or null if there were no operations or a shard's round trip is unknown
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
   * The bound in operations per second.
   *
   * @param underWay the most operations in flight at once
   * @return null if the round trip is unknown or zero
   */
  static @Nullable Double operationsPerSecond(int underWay, @Nullable Double roundTripMillis) {
    return roundTripMillis == null || roundTripMillis <= 0
        ? null
        : underWay * 1000.0 / roundTripMillis;
  }
}
