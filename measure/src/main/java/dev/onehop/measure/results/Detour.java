package dev.onehop.measure.results;

import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The way that targeting saves where no router stands on the client's host: d(client, router) +
 * d(router, shard) − d(client, shard).
 *
 * @param perShardMillis predicted detour of an operation on each shard, the mean over the routers
 *     that the driver may choose
 * @param predictedMillis their mean, weighted by the shares of operations
 * @param measuredMillis mean latency of {@code async} less that of {@code targeted-async} at the
 *     smallest number of threads, each above the mean round trip to the shards that its operations
 *     went to; null if either was not run
 * @param threads that number of threads; null likewise
 */
public record Detour(
    Map<String, Double> perShardMillis,
    double predictedMillis,
    @Nullable Double measuredMillis,
    @Nullable Integer threads) {

  /** Shards that a file left out are none. */
  public Detour {
    perShardMillis = perShardMillis == null ? Map.of() : perShardMillis;
  }
}
