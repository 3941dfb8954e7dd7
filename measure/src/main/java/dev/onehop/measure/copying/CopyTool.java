package dev.onehop.measure.copying;

import dev.onehop.measure.results.CopyBenchRun;
import java.util.List;

/** A tool that copies from a source to a destination. */
public enum CopyTool {
  /** The plain driver: one reader for each collection and writers, all through one mongos. */
  DRIVER(CopyBenchRun.DRIVER),
  /** OneHop's copy. */
  ONEHOP(CopyBenchRun.ONEHOP),
  /** Percona ClusterSync for MongoDB. */
  PCSM("pcsm"),
  /** MongoShake. */
  MONGOSHAKE("mongoshake"),
  /** MongoDB's mongosync. */
  MONGOSYNC("mongosync"),
  /** MongoDB's migration-verifier, which compares and does not copy. */
  MIGRATION_VERIFIER("migration-verifier");

  /** The tools for copies that users can provide. */
  public static final List<CopyTool> COPIERS = List.of(PCSM, MONGOSHAKE, MONGOSYNC);

  /** The tools for comparisons that users can provide. */
  public static final List<CopyTool> VERIFIERS = List.of(MIGRATION_VERIFIER);

  private final String label;

  CopyTool(String label) {
    this.label = label;
  }

  /** The tool's name in results and on command lines. */
  public String label() {
    return label;
  }

  /**
   * The name of the copied database at the destination. Tools that users provide keep the name of
   * the source's database, because some of them cannot change it.
   */
  String database() {
    return COPIERS.contains(this) ? Workload.DATABASE : label;
  }

  /** Whether the tool supports this pair according to its documentation. */
  boolean supports(ClusterPair pair) {
    return switch (this) {
      case DRIVER, ONEHOP, MIGRATION_VERIFIER -> true;
      case PCSM -> pair.fromSharded() == pair.toSharded();
      case MONGOSYNC -> pair.toSharded() || !pair.fromSharded();
      case MONGOSHAKE -> !pair.fromSharded();
    };
  }
}
