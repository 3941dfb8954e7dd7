package dev.onehop.testbed.evidence;

import java.util.OptionalDouble;

/**
 * How many of a sample of operations reached their shard from a router on one of the shard's own
 * hosts.
 *
 * @param sample the operations of the sample
 * @param beside how many of them came from beside
 */
public record BesideOwner(OperationCounts sample, long beside) {

  /** How many operations the sample holds. */
  public long sampled() {
    return sample.total();
  }

  /** The fraction that came from beside, an estimate by sampling; empty if nothing was sampled. */
  public OptionalDouble fraction() {
    return sampled() == 0 ? OptionalDouble.empty() : OptionalDouble.of((double) beside / sampled());
  }
}
