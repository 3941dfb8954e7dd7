package dev.onehop.testbed.evidence;

import java.util.OptionalDouble;

/**
 * How many of a sample of operations reached their shard from a router on one of the shard's own
 * hosts.
 *
 * @param sampled how many operations the sample holds
 * @param beside how many of them came from beside
 */
public record BesideOwner(long sampled, long beside) {
  /** An empty sample. */
  public static final BesideOwner NONE = new BesideOwner(0, 0);

  /** Both samples together. */
  public BesideOwner plus(BesideOwner other) {
    return new BesideOwner(sampled + other.sampled, beside + other.beside);
  }

  /** The fraction that came from beside, an estimate by sampling; empty if nothing was sampled. */
  public OptionalDouble fraction() {
    return sampled == 0 ? OptionalDouble.empty() : OptionalDouble.of((double) beside / sampled);
  }
}
