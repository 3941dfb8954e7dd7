package dev.onehop.measure.copying;

import dev.onehop.measure.results.CopyBenchRun;
import dev.onehop.resync.Failure;
import dev.onehop.resync.Names;
import java.util.List;

/** The kinds of source and destination of a copy. */
public enum ClusterPair {
  /** From a sharded cluster to another sharded cluster. */
  SHARDED(true, true),
  /** From a replica set to another replica set. */
  REPLICA_SET(false, false),
  /** From a replica set to a sharded cluster. */
  REPLICA_SET_TO_SHARDED(false, true),
  /** From a sharded cluster to a replica set. */
  SHARDED_TO_REPLICA_SET(true, false);

  private final boolean fromSharded;
  private final boolean toSharded;

  ClusterPair(boolean fromSharded, boolean toSharded) {
    this.fromSharded = fromSharded;
    this.toSharded = toSharded;
  }

  /**
   * Returns the pair with this name on command lines.
   *
   * @throws Failure if there is no such pair
   */
  public static ClusterPair named(String option) {
    return Names.find(
        option, List.of(values()), ClusterPair::option, "--between takes %s, not '%s'");
  }

  /** The name of the pair in words. */
  String label() {
    return option().replace('-', ' ');
  }

  /** The name of the pair on command lines. The pair's folder has the same name. */
  String option() {
    return fromSharded == toSharded ? source() : source() + "-to-" + destination();
  }

  /** The kind of the source in results. */
  String source() {
    return kind(fromSharded);
  }

  /** The kind of the destination in results. */
  String destination() {
    return kind(toSharded);
  }

  private static String kind(boolean sharded) {
    return sharded ? CopyBenchRun.SHARDED : CopyBenchRun.REPLICA_SET;
  }

  boolean fromSharded() {
    return fromSharded;
  }

  boolean toSharded() {
    return toSharded;
  }
}
