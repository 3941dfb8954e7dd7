package dev.onehop.measure.points;

import dev.onehop.resync.Failure;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** A client configuration that the bench can measure. */
public enum Mode {
  /** The official synchronous driver, through the nearest router. */
  LEGACY("dev.onehop.ycsb.LegacyClient"),
  /** The official reactive driver, through the nearest router. */
  ASYNC("dev.onehop.ycsb.AsyncClient"),
  /** OneHop with the reactive driver: sends each operation to the router near the owner. */
  TARGETED_ASYNC("dev.onehop.ycsb.TargetedAsyncClient"),
  /** OneHop with the synchronous driver: sends each operation to the router near the owner. */
  TARGETED_SYNC("dev.onehop.ycsb.TargetedSyncClient"),
  /** OneHop with the reactive driver: sends each operation to the owning shard's server. */
  DIRECT_ASYNC("dev.onehop.ycsb.DirectAsyncClient"),
  /** OneHop with the synchronous driver: sends each operation to the owning shard's server. */
  DIRECT_SYNC("dev.onehop.ycsb.DirectSyncClient"),
  /**
   * For comparison only, because applications cannot use it: the synchronous driver is connected
   * directly to the owning shard's server.
   */
  STRAIGHT_SYNC("dev.onehop.ycsb.StraightSyncPeer"),
  /**
   * For comparison only, because applications cannot use it: the reactive driver is connected
   * directly to the owning shard's server.
   */
  STRAIGHT_ASYNC("dev.onehop.ycsb.StraightAsyncPeer"),
  /** The official reactive driver, configured to select the mongos with the shortest round trip. */
  NEAR_MONGOS("dev.onehop.ycsb.NearMongosPeer"),
  /** The official reactive driver with all mongoses and no latency window. */
  LOCAL_THRESHOLD_0("dev.onehop.ycsb.AsyncClient"),
  /**
   * The official reactive driver with pipelining and without routing. It shows the effect of
   * pipelining alone.
   */
  PIPELINED_ONLY("dev.onehop.ycsb.AsyncClient");

  private final String label = name().toLowerCase(Locale.ROOT).replace('_', '-');
  private final String dbClass;

  Mode(String dbClass) {
    this.dbClass = dbClass;
  }

  /** The mode's name on the command line and in results. */
  public String label() {
    return label;
  }

  /** The name in help texts. The two modes {@code straight} have the same name there. */
  public String option() {
    return isStraight() ? "straight" : label;
  }

  /** The class of the YCSB binding. */
  String dbClass() {
    return dbClass;
  }

  /** Whether the mode supports many requests in flight on one socket. */
  public boolean canPipeline() {
    return this == ASYNC || this == TARGETED_ASYNC || this == DIRECT_ASYNC || isPipelinedOnly();
  }

  /** Whether the mode exists only with pipelining. */
  boolean isPipelinedOnly() {
    return this == PIPELINED_ONLY;
  }

  /**
   * Whether all operations go through one router. The pool of this router then bounds all
   * operations.
   */
  boolean throughOneRouter() {
    return this == LEGACY || this == ASYNC || knowsAllRouters() || isPipelinedOnly();
  }

  /**
   * Whether the mode's URL names every mongos. The mode then needs a cluster with several mongoses.
   */
  public boolean knowsAllRouters() {
    return this == NEAR_MONGOS || this == LOCAL_THRESHOLD_0;
  }

  /** Whether the mode uses no router. */
  boolean withoutRouter() {
    return this == DIRECT_ASYNC || this == DIRECT_SYNC || isStraight();
  }

  private boolean isStraight() {
    return this == STRAIGHT_SYNC || this == STRAIGHT_ASYNC;
  }

  /** Whether the mode is only for comparison. */
  public boolean isPeer() {
    return isStraight() || knowsAllRouters() || isPipelinedOnly();
  }

  /**
   * Returns the modes with these names, each once. {@code straight} names two modes.
   *
   * @param usual the modes that are added if all named modes are only for comparison
   * @throws Failure if there is no such mode
   */
  public static List<Mode> named(List<String> names, List<Mode> usual) {
    List<Mode> modes = names.stream().flatMap(name -> named(name).stream()).distinct().toList();
    return modes.stream().allMatch(Mode::isPeer)
        ? Stream.concat(usual.stream(), modes.stream()).toList()
        : modes;
  }

  private static List<Mode> named(String name) {
    List<Mode> named =
        Arrays.stream(values())
            .filter(mode -> mode.label.equals(name) || mode.option().equals(name))
            .toList();
    if (named.isEmpty()) {
      throw Failure.usage(
          "unknown mode '%s'; modes: %s; for comparison: near-mongos, local-threshold-0, pipelined-only, straight"
              .formatted(
                  name,
                  Arrays.stream(values())
                      .filter(mode -> !mode.isPeer())
                      .map(Mode::label)
                      .collect(Collectors.joining(", "))));
    }
    return named;
  }

  /** Returns the default modes, in display order. */
  public static List<Mode> all() {
    return List.of(LEGACY, ASYNC, TARGETED_ASYNC, DIRECT_ASYNC);
  }

  @Override
  public String toString() {
    return label;
  }
}
