package dev.onehop.cli.copybench;

import dev.onehop.cli.Failure;
import dev.onehop.cli.results.CopyBenchRun;
import java.util.Arrays;
import java.util.List;

/** From what to what it is copied. */
public enum Setup {
  /** From a sharded cluster to another one. */
  SHARDED(CopyBenchRun.SHARDED, true, true),
  /** From a replica set to another one. */
  REPLICA_SET(CopyBenchRun.REPLICA_SET, false, false),
  /** From a replica set to a sharded cluster. */
  REPLICA_SET_TO_SHARDED("replica set to sharded", false, true),
  /** From a sharded cluster to a replica set. */
  SHARDED_TO_REPLICA_SET("sharded to replica set", true, false);

  private final String label;
  private final boolean fromSharded;
  private final boolean toSharded;

  Setup(String label, boolean fromSharded, boolean toSharded) {
    this.label = label;
    this.fromSharded = fromSharded;
    this.toSharded = toSharded;
  }

  /**
   * The one of an option's value.
   *
   * @throws Failure if there is none
   */
  public static Setup named(String option) {
    return Arrays.stream(values())
        .filter(setup -> setup.option().equals(option))
        .findFirst()
        .orElseThrow(
            () ->
                Failure.usage(
                    "--between takes %s, and not '%s'"
                        .formatted(String.join(", ", options()), option)));
  }

  private static List<String> options() {
    return Arrays.stream(values()).map(Setup::option).toList();
  }

  /** Its name in results. */
  String label() {
    return label;
  }

  /** Its name on command lines, and that of a folder. */
  String option() {
    return label.replace(' ', '-');
  }

  boolean fromSharded() {
    return fromSharded;
  }

  boolean toSharded() {
    return toSharded;
  }
}
