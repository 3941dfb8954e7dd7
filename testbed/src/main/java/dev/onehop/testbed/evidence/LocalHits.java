package dev.onehop.testbed.evidence;

import java.util.OptionalDouble;

/**
 * The operations of a sample that reached their shard from a router on one of the shard's hosts.
 *
 * @param sample the operations of the sample
 * @param beside the number of them that came from a near router
 */
public record LocalHits(OperationCounts sample, long beside) {

  /** The number of operations of the sample. */
  public long sampled() {
    return sample.total();
  }

  /**
   * The fraction that came from a near router, an estimate by sampling; empty if the sample is
   * empty.
   */
  public OptionalDouble fraction() {
    return sampled() == 0 ? OptionalDouble.empty() : OptionalDouble.of((double) beside / sampled());
  }
}
