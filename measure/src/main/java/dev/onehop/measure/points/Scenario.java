package dev.onehop.measure.points;

import dev.onehop.measure.frame.BenchCluster;
import dev.onehop.resync.Failure;
import java.time.Duration;
import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;

/** What happens to the cluster while operations are issued at a fixed rate. */
public enum Scenario {
  /** One shard's server stops where it is (SIGSTOP), and goes on later. */
  SHARD_FREEZE(true, "the server of %s is frozen (SIGSTOP)") {
    @Override
    void begin(BenchCluster cluster, String where) {
      cluster.setFrozen(cluster.primaryOf(where), true);
    }

    @Override
    void end(BenchCluster cluster, String where) {
      cluster.setFrozen(cluster.primaryOf(where), false);
    }
  },
  /** The way to one shard's server becomes longer. */
  SHARD_SLOW(true, "the server of %s is 200 ms further away") {
    @Override
    void begin(BenchCluster cluster, String where) {
      cluster.setFurther(cluster.primaryOf(where), Duration.ofMillis(200));
    }

    @Override
    void end(BenchCluster cluster, String where) {
      cluster.setFurther(cluster.primaryOf(where), Duration.ZERO);
    }
  },
  /** The nearest mongos stops where it is, and goes on later. */
  ROUTER_FREEZE(false, "the nearest mongos, %s, is frozen (SIGSTOP)") {
    @Override
    void begin(BenchCluster cluster, String where) {
      cluster.setFrozen(where, true);
    }

    @Override
    void end(BenchCluster cluster, String where) {
      cluster.setFrozen(where, false);
    }
  },
  /** Connections to the nearest mongos break, and new ones are refused, until it is back. */
  ROUTER_LOSS(false, "the nearest mongos, %s, is cut off") {
    @Override
    void begin(BenchCluster cluster, String where) {
      cluster.setCutOff(where, true);
    }

    @Override
    void end(BenchCluster cluster, String where) {
      cluster.setCutOff(where, false);
    }
  },
  /** The nearest mongos is ended, and started again. */
  ROUTER_KILL(false, "the nearest mongos, %s, is killed") {
    @Override
    void begin(BenchCluster cluster, String where) {
      cluster.setKilled(where, true);
    }

    @Override
    void end(BenchCluster cluster, String where) {
      cluster.setKilled(where, false);
    }
  },
  /** Nothing happens: what crosses zones is counted. See {@link ZonesRunner}. */
  ZONES(false, "nothing happens to %s"),
  /** Nothing happens: there are many instances of the application. See {@link FleetRunner}. */
  FLEET(false, "nothing happens to %s");

  /** The name of what is no such scenario but points by threads. */
  public static final String LIMIT = "limit";

  private final String label = name().toLowerCase(Locale.ROOT).replace('_', '-');
  private final boolean ofShard;
  private final String fault;

  Scenario(boolean ofShard, String fault) {
    this.ofShard = ofShard;
    this.fault = fault;
  }

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
            + Arrays.stream(values()).map(Scenario::label).collect(Collectors.joining(", "))
            + ", "
            + LIMIT);
  }

  /** Whether it happens to a shard, and not to a mongos. */
  public boolean ofShard() {
    return ofShard;
  }

  /** Whether it happens to a mongos, of which there are to be others. */
  public boolean isOfRouter() {
    return !ofShard && this != ZONES && this != FLEET;
  }

  /** What is done, for a person. */
  String fault(String where) {
    return fault.formatted(where);
  }

  /**
   * Makes it happen.
   *
   * @param where the shard, or the mongos as {@code host:port}
   */
  void begin(BenchCluster cluster, String where) {}

  /** Puts an end to it. */
  void end(BenchCluster cluster, String where) {}
}
