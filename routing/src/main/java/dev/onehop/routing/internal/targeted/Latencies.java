package dev.onehop.routing.internal.targeted;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Detects operations that take much longer than the round trip to their shard. Several such
 * operations within a second suggest that the routing table is stale, and that the mongos near the
 * shard sends them to another shard. Operations that are slow for another reason are detected, too.
 * The caller MUST therefore limit the number of refreshes.
 *
 * <p>Thread-safe. Races between threads only make the estimate less exact.
 */
final class Latencies {
  /**
   * An operation is suspicious if it takes longer than twice the usual latency plus this margin.
   */
  private static final long MARGIN_NANOS = 10_000_000;

  /**
   * If this number of operations within a second is suspicious, the routing table is suspected to
   * be stale.
   */
  private static final int SUSPICIOUS = 4;

  private static final long WINDOW_NANOS = 1_000_000_000;

  /**
   * The number of bits by which a difference is shifted. An operation that is slower than usual
   * raises the usual latency by a 1024th of the difference.
   */
  private static final int DRIFT = 10;

  /**
   * The usual latencies, by shard and then by operation. A key with both names would create garbage
   * per operation.
   */
  private final Map<String, Map<String, Usual>> byShard = new ConcurrentHashMap<>();

  private static final class Usual {
    private volatile long nanos = Long.MAX_VALUE;
    private volatile long windowStart;
    private volatile int far;
  }

  /**
   * Records the latency of a successful operation.
   *
   * @return whether the routing table is suspected to be stale
   */
  boolean isSuspicious(String operation, String shard, long nanos, long nowNanos) {
    Map<String, Usual> byOperation = byShard.get(shard);
    if (byOperation == null) {
      byOperation = byShard.computeIfAbsent(shard, name -> new ConcurrentHashMap<>());
    }
    Usual usual = byOperation.get(operation);
    if (usual == null) {
      usual = byOperation.computeIfAbsent(operation, name -> new Usual());
    }
    long least = usual.nanos;
    if (nanos <= least) {
      if (nanos < least) {
        usual.nanos = nanos;
      }
      return false;
    }
    if (nanos - least > least >> 1) {
      usual.nanos = least + ((nanos - least) >> DRIFT);
    }
    if (nanos - least < least + MARGIN_NANOS) {
      return false;
    }
    if (nowNanos - usual.windowStart > WINDOW_NANOS) {
      usual.windowStart = nowNanos;
      usual.far = 0;
    }
    int far = usual.far + 1;
    usual.far = far >= SUSPICIOUS ? 0 : far;
    return far >= SUSPICIOUS;
  }
}
