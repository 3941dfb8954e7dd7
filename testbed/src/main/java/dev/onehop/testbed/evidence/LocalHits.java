package dev.onehop.testbed.evidence;

import java.util.OptionalDouble;

/**
 * The operations of a sample that reached their shard from a router on one of the shard's hosts.
 *
 * @param sample the operations of the sample, by shard
 * @param beside the number of operations of the sample that came from a router on a host of their
 *     shard
 */
public record LocalHits(OperationCounts sample, long beside) {

  /** The number of operations of the sample. */
  public long sampled() {
    return sample.total();
  }

  /**
   * The fraction of operations that came from a router on a host of their shard, from 0 to 1. It is
   * an estimate from the sample, and empty if the sample is empty.
   */
  public OptionalDouble fraction() {
    return sampled() == 0 ? OptionalDouble.empty() : OptionalDouble.of((double) beside / sampled());
  }
}
