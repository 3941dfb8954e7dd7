package dev.onehop.testbed.evidence;

import java.util.Collections;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * The number of operations on a collection that each shard's primary has executed. Immutable.
 *
 * @param byShard the number of operations by the shard's name
 */
public record OperationCounts(SortedMap<String, Long> byShard) {
  public OperationCounts {
    byShard = Collections.unmodifiableSortedMap(new TreeMap<>(byShard));
  }

  /**
   * Returns the number of operations since earlier counts. If a shard is missing in the earlier
   * counts, its earlier number is zero.
   */
  public OperationCounts since(OperationCounts earlier) {
    SortedMap<String, Long> difference = new TreeMap<>();
    byShard.forEach(
        (shard, count) -> difference.put(shard, count - earlier.byShard().getOrDefault(shard, 0L)));
    return new OperationCounts(difference);
  }

  /** The number of operations of all shards together. */
  public long total() {
    return byShard.values().stream().mapToLong(Long::longValue).sum();
  }

  /** Each shard's fraction of all operations, from 0 to 1; empty if there were no operations. */
  public Map<String, Double> shares() {
    long total = total();
    Map<String, Double> shares = new TreeMap<>();
    if (total > 0) {
      byShard.forEach((shard, count) -> shares.put(shard, (double) count / total));
    }
    return shares;
  }
}
