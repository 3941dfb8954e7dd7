package dev.onehop.cli.bench;

import dev.onehop.cli.Failure;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/** A way to reach the cluster that can be measured. */
public enum Mode {
  /** The official sync driver, through the nearest router. */
  LEGACY("dev.onehop.ycsb.LegacyClient"),
  /** The official reactive driver, through the nearest router. */
  ASYNC("dev.onehop.ycsb.AsyncClient"),
  /** OneHop: each operation to the router beside its owning shard. */
  TARGETED_ASYNC("dev.onehop.ycsb.TargetedAsyncClient"),
  /** OneHop: each operation to the server of its owning shard. */
  DIRECT_ASYNC("dev.onehop.ycsb.DirectAsyncClient");

  private final String label = name().toLowerCase(Locale.ROOT).replace('_', '-');
  private final String dbClass;

  Mode(String dbClass) {
    this.dbClass = dbClass;
  }

  /** The mode's name on the command line and in results. */
  public String label() {
    return label;
  }

  /** The YCSB binding's class. */
  String dbClass() {
    return dbClass;
  }

  /** Whether it has a transport that keeps many requests in flight on one socket. */
  boolean canPipeline() {
    return this != LEGACY;
  }

  /** Whether all operations pass through one router, so that its pool bounds them all. */
  boolean throughOneRouter() {
    return this == LEGACY || this == ASYNC;
  }

  /**
   * The mode of that name.
   *
   * @throws Failure if there is none
   */
  public static Mode named(String name) {
    for (Mode mode : values()) {
      if (mode.label.equals(name)) {
        return mode;
      }
    }
    throw Failure.usage("unknown mode '" + name + "'; modes: " + labels());
  }

  private static String labels() {
    return Arrays.stream(values()).map(Mode::label).collect(Collectors.joining(", "));
  }

  /** All modes, in the order in which they are shown. */
  public static List<Mode> all() {
    return List.of(values());
  }

  @Override
  public String toString() {
    return label;
  }
}
