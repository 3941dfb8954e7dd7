package dev.onehop.measure.points;

import dev.onehop.measure.frame.BenchCluster;
import dev.onehop.resync.Failure;
import dev.onehop.resync.Names;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.TreeSet;

/** A fault of the cluster while operations are issued at a fixed rate. */
public enum Scenario {
  /** The server of one shard freezes (SIGSTOP), and resumes later. */
  SHARD_FREEZE(true, "the server of %s is frozen (SIGSTOP)"),
  /** The round trip to one shard's server becomes longer. */
  SHARD_SLOW(true, "the round trip to the server of %s is 200 ms longer"),
  /** The nearest mongos freezes, and resumes later. */
  ROUTER_FREEZE(false, "the nearest mongos, %s, is frozen (SIGSTOP)"),
  /** Connections to the nearest mongos are closed, and new ones are refused, for some time. */
  ROUTER_LOSS(false, "the nearest mongos, %s, is cut off"),
  /** The nearest mongos is killed, and started again. */
  ROUTER_KILL(false, "the nearest mongos, %s, is killed");

  private final String label = name().toLowerCase(Locale.ROOT).replace('_', '-');
  private final boolean ofShard;
  private final String fault;

  Scenario(boolean ofShard, String fault) {
    this.ofShard = ofShard;
    this.fault = fault;
  }

  /** The name of the scenario on the command line and in results. */
  public String label() {
    return label;
  }

  /**
   * Returns the scenario with this name.
   *
   * @throws Failure if there is no such scenario
   */
  public static Scenario named(String name) {
    return Names.find(
        name,
        List.of(values()),
        Scenario::label,
        "unknown scenario '%2$s'; scenarios: %1$s, fleet");
  }

  /** Whether the fault concerns a shard; false if it concerns a mongos. */
  public boolean ofShard() {
    return ofShard;
  }

  /** Whether a server freezes, which requires only its process id. */
  public boolean isFreeze() {
    return this == SHARD_FREEZE || this == ROUTER_FREEZE;
  }

  /**
   * Returns the target of the fault: the last shard by name, or the nearest mongos as {@code
   * host:port}.
   */
  String where(BenchCluster cluster) {
    return ofShard ? new TreeSet<>(cluster.shardHosts().keySet()).last() : cluster.routers().get(0);
  }

  /**
   * Returns the description of the fault.
   *
   * @param where the target, as {@link #where} returns it
   */
  String fault(String where) {
    return fault.formatted(where);
  }

  /**
   * Starts or ends the fault.
   *
   * @param where the target of {@link #where}
   */
  void set(BenchCluster cluster, String where, boolean on) {
    String server = ofShard ? cluster.primaryOf(where) : where;
    try {
      switch (this) {
        case SHARD_FREEZE, ROUTER_FREEZE -> cluster.setFrozen(server, on);
        case SHARD_SLOW -> cluster.testbed().setFurther(server, Duration.ofMillis(on ? 200 : 0));
        case ROUTER_LOSS -> cluster.testbed().setBlocked(server, on);
        case ROUTER_KILL -> {
          if (on) {
            cluster.testbed().kill(server);
          } else {
            cluster.testbed().restart(server);
          }
        }
      }
    } catch (UnsupportedOperationException | IllegalArgumentException e) {
      throw Failure.run(
          "the scenario %s is not possible at %s: %s".formatted(label, server, e.getMessage()), e);
    }
  }
}
