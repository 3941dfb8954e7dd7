package dev.onehop.measure.points;

import dev.onehop.resync.Failure;
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
  boolean isPeer() {
    return isStraight() || knowsAllRouters() || isPipelinedOnly();
  }

  /**
   * The mode of that name.
   *
   * @throws Failure if there is none
   */
  public static Mode named(String name) {
    for (Mode mode : values()) {
      if (mode.label.equals(name) && !mode.isPeer()) {
        return mode;
      }
    }
    throw Failure.usage("unknown mode '" + name + "'; modes: " + labels());
  }

  private static String labels() {
    return Arrays.stream(values())
        .filter(mode -> !mode.isPeer())
        .map(Mode::label)
        .collect(Collectors.joining(", "));
  }

  /** The modes that are measured if none are named, in the order in which they are shown. */
  public static List<Mode> all() {
    return List.of(LEGACY, ASYNC, TARGETED_ASYNC, DIRECT_ASYNC);
  }

  /**
   * What {@code --peer} names.
   *
   * @throws Failure if there is no such peer
   */
  public static List<Mode> peers(String name) {
    return switch (name) {
      case "straight" -> List.of(STRAIGHT_SYNC, STRAIGHT_ASYNC);
      case "near-mongos" -> List.of(NEAR_MONGOS);
      case "local-threshold-0" -> List.of(LOCAL_THRESHOLD_0);
      case "pipelined-only" -> List.of(PIPELINED_ONLY);
      default ->
          throw Failure.usage(
              "--peer takes straight, near-mongos, local-threshold-0 or pipelined-only, and not '"
                  + name
                  + "'");
    };
  }

  @Override
  public String toString() {
    return label;
  }
}
