package dev.onehop.measure.copying;

import dev.onehop.measure.results.CopyBenchRun;
import dev.onehop.resync.Failure;
import dev.onehop.resync.Names;
import java.util.List;

/** The kinds of source and destination of a copy. */
public enum ClusterPair {
  /** From a sharded cluster to another sharded cluster. */
  SHARDED(CopyBenchRun.SHARDED, CopyBenchRun.SHARDED),
  /** From a replica set to another replica set. */
  REPLICA_SET(CopyBenchRun.REPLICA_SET, CopyBenchRun.REPLICA_SET),
  /** From a replica set to a sharded cluster. */
  REPLICA_SET_TO_SHARDED(CopyBenchRun.REPLICA_SET, CopyBenchRun.SHARDED),
  /** From a sharded cluster to a replica set. */
  SHARDED_TO_REPLICA_SET(CopyBenchRun.SHARDED, CopyBenchRun.REPLICA_SET);

  private final String source;
  private final String destination;

  ClusterPair(String source, String destination) {
    this.source = source;
    this.destination = destination;
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
    return source.equals(destination) ? source : source + "-to-" + destination;
  }

  /** The kind of the source in results. */
  String source() {
    return source;
  }

  /** The kind of the destination in results. */
  String destination() {
    return destination;
  }

  boolean fromSharded() {
    return source.equals(CopyBenchRun.SHARDED);
  }

  boolean toSharded() {
    return destination.equals(CopyBenchRun.SHARDED);
  }
}
