package dev.onehop.measure.points;

import dev.onehop.resync.Failure;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** A way to reach the cluster that can be measured. */
public enum Mode {
  /** The official sync driver, through the nearest router. */
  LEGACY("dev.onehop.ycsb.LegacyClient"),
  /** The official reactive driver, through the nearest router. */
  ASYNC("dev.onehop.ycsb.AsyncClient"),
  /** OneHop: each operation to the router beside its owning shard. */
  TARGETED_ASYNC("dev.onehop.ycsb.TargetedAsyncClient"),
  /** The sync driver over OneHop: each operation to the router beside its owning shard. */
  TARGETED_SYNC("dev.onehop.ycsb.TargetedSyncClient"),
  /** OneHop: each operation to the server of its owning shard. */
  DIRECT_ASYNC("dev.onehop.ycsb.DirectAsyncClient"),
  /** The sync driver over OneHop: each operation to the server of its owning shard. */
  DIRECT_SYNC("dev.onehop.ycsb.DirectSyncClient"),
  /** No way to use a cluster, but a limit: the sync driver on the owning shard's server. */
  STRAIGHT_SYNC("dev.onehop.ycsb.StraightSyncPeer"),
  /** The same with the reactive driver. */
  STRAIGHT_ASYNC("dev.onehop.ycsb.StraightAsyncPeer"),
  /** The official reactive driver, told to take the mongos of the shortest round trip. */
  NEAR_MONGOS("dev.onehop.ycsb.NearMongosPeer"),
  /** The official reactive driver with all mongoses and no latency window. */
  LOCAL_THRESHOLD_0("dev.onehop.ycsb.AsyncClient"),
  /** The official reactive driver, pipelined, without routing: what pipelining alone does. */
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

  /** The YCSB binding's class. */
  String dbClass() {
    return dbClass;
  }

  /** Whether it has a transport that keeps many requests in flight on one socket. */
  public boolean canPipeline() {
    return this == ASYNC || this == TARGETED_ASYNC || this == DIRECT_ASYNC || isPipelinedOnly();
  }

  /** Whether it is nothing without pipelining. */
  boolean isPipelinedOnly() {
    return this == PIPELINED_ONLY;
  }

  /** Whether all operations pass through one router, so that its pool bounds them all. */
  boolean throughOneRouter() {
    return this == LEGACY || this == ASYNC || knowsAllRouters() || isPipelinedOnly();
  }

  /** Whether its URL names every mongos, so that there have to be several. */
  public boolean knowsAllRouters() {
    return this == NEAR_MONGOS || this == LOCAL_THRESHOLD_0;
  }

  /** Whether no router takes part. */
  boolean withoutRouter() {
    return this == DIRECT_ASYNC || this == DIRECT_SYNC || isStraight();
  }

  private boolean isStraight() {
    return this == STRAIGHT_SYNC || this == STRAIGHT_ASYNC;
  }

  /** Whether it is there to compare with only. */
  public boolean isPeer() {
    return isStraight() || knowsAllRouters() || isPipelinedOnly();
  }

  /**
   * The modes of these names, each once; {@code straight} names two.
   *
   * @param usual those that modes to compare with stand beside if no other is named
   * @throws Failure if there is no such mode
   */
  public static List<Mode> named(List<String> names, List<Mode> usual) {
    List<Mode> modes = names.stream().flatMap(name -> named(name).stream()).distinct().toList();
    return modes.stream().allMatch(Mode::isPeer)
        ? Stream.concat(usual.stream(), modes.stream()).toList()
        : modes;
  }

  private static List<Mode> named(String name) {
    if (name.equals("straight")) {
      return List.of(STRAIGHT_SYNC, STRAIGHT_ASYNC);
    }
    for (Mode mode : values()) {
      if (mode.label.equals(name)) {
        return List.of(mode);
      }
    }
    throw Failure.usage(
        "unknown mode '%s'; modes: %s; to compare with: near-mongos, local-threshold-0, pipelined-only, straight"
            .formatted(
                name,
                Arrays.stream(values())
                    .filter(mode -> !mode.isPeer())
                    .map(Mode::label)
                    .collect(Collectors.joining(", "))));
  }

  /** The modes that are measured if none are named, in the order in which they are shown. */
  public static List<Mode> all() {
    return List.of(LEGACY, ASYNC, TARGETED_ASYNC, DIRECT_ASYNC);
  }

  @Override
  public String toString() {
    return label;
  }
}
