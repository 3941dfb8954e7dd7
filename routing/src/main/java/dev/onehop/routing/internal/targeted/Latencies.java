package dev.onehop.routing.internal.targeted;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Notices operations that take much longer than their shard is away: several in a row of time mean
 * that the mongos beside the shard had to send them on, so that the routing table is stale. What is
 * merely slow raises the same suspicion; its user MUST limit how often it follows it.
 *
 * <p>Thread-safe. Races between threads only blur the estimate.
 */
final class Latencies {
  /** Slower than twice the usual and ten milliseconds is far. */
  private static final long MARGIN_NANOS = 10_000_000;

  /** So many far ones within a second raise a suspicion. */
  private static final int SUSPICIOUS = 4;

  private static final long WINDOW_NANOS = 1_000_000_000;

  /** The usual latency follows slower operations by a thousandth of the difference. */
  private static final int DRIFT = 10;

  /** By shard and operation; in two steps, as a key of both would be garbage. */
  private final Map<String, Map<String, Usual>> byShard = new ConcurrentHashMap<>();

  private static final class Usual {
    private volatile long nanos = Long.MAX_VALUE;
    private volatile long windowStart;
    private volatile int far;
  }

  /**
   * An operation ended well.
   *
   * @return whether there is reason to suspect the routing table
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
