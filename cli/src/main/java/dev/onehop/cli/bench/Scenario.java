package dev.onehop.cli.bench;

import dev.onehop.cli.Failure;
import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;

/** What happens to the cluster while operations are issued at a fixed rate. */
public enum Scenario {
  /** One shard's primary stops where it is (SIGSTOP), and goes on later. */
  SHARD_FREEZE;

  private final String label = name().toLowerCase(Locale.ROOT).replace('_', '-');

  /** Its name on the command line and in results. */
  public String label() {
    return label;
  }

  /**
   * The scenario of that name.
   *
   * @throws Failure if there is none
   */
  public static Scenario named(String name) {
    for (Scenario scenario : values()) {
      if (scenario.label.equals(name)) {
        return scenario;
      }
    }
    throw Failure.usage(
        "unknown scenario '"
            + name
            + "'; scenarios: "
            + Arrays.stream(values()).map(Scenario::label).collect(Collectors.joining(", ")));
  }

  /** What is done to a shard, for a person. */
  String fault(String shard) {
    return "the server of " + shard + " is frozen (SIGSTOP)";
  }

  void begin(Cluster cluster, String shard) {
    cluster.setFrozen(shard, true);
  }

  void end(Cluster cluster, String shard) {
    cluster.setFrozen(shard, false);
  }
}
