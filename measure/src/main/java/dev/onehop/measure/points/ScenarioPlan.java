package dev.onehop.measure.points;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A scenario that is to be run.
 *
 * @param scenario what happens
 * @param rate operations per second
 * @param poisson whether intended times are spread as of many independent users, and not evenly
 * @param duration how long operations are issued
 * @param from when the fault begins
 * @param to when it ends
 * @param warmup time that each client spends on unmeasured operations first
 * @param brief whether fewer clients run, for less time
 * @param zones what is compared in the scenario {@code zones}; null in others
 */
public record ScenarioPlan(
    Scenario scenario,
    double rate,
    boolean poisson,
    Duration duration,
    Duration from,
    Duration to,
    Duration warmup,
    boolean brief,
    @Nullable ZonesPlan zones) {

  /** The driver's default pool. */
  static final int POOL = 100;

  /** What a pipelined client needs at the most. */
  private static final int SOCKETS = 5;

  private static final Duration WARMUP = Duration.ofSeconds(15);

  /** 12 seconds, of which 9 are counted. */
  public static ScenarioPlan zones(double rate, ZonesPlan zones) {
    return new ScenarioPlan(
        Scenario.ZONES,
        rate,
        false,
        Duration.ofSeconds(12),
        Duration.ofSeconds(2),
        Duration.ofSeconds(11),
        WARMUP,
        false,
        zones);
  }

  /** 25 seconds, of which the cluster is ill from the 8th to the 16th. */
  public static ScenarioPlan of(Scenario scenario, double rate, boolean poisson) {
    return new ScenarioPlan(
        scenario,
        rate,
        poisson,
        Duration.ofSeconds(25),
        Duration.ofSeconds(8),
        Duration.ofSeconds(16),
        WARMUP,
        false,
        null);
  }

  /** The same in 12 seconds, with a short warm-up: rough figures. */
  public ScenarioPlan shortened() {
    return new ScenarioPlan(
        scenario,
        rate,
        poisson,
        Duration.ofSeconds(12),
        Duration.ofSeconds(4),
        Duration.ofSeconds(8),
        Duration.ofSeconds(5),
        true,
        zones);
  }

  /** The same with another warm-up. */
  public ScenarioPlan withWarmup(Duration other) {
    return new ScenarioPlan(scenario, rate, poisson, duration, from, to, other, brief, zones);
  }

  /**
   * Many instances that take turns in bursts, until each has had three.
   *
   * @param instances how many
   */
  public static ScenarioPlan fleet(int instances, double rate, boolean poisson) {
    long seconds = Math.max(25, (long) Math.ceil(3.0 * instances * POOL / rate));
    Duration all = Duration.ofSeconds(seconds);
    return new ScenarioPlan(
        Scenario.FLEET, rate, poisson, all, Duration.ZERO, all, WARMUP, false, null);
  }

  /** How many clients run. */
  int count(List<Mode> modes) {
    return zones == null ? contenders(modes).size() : zones.ways(modes).size();
  }

  /**
   * Each mode at the official driver's default pool, routed reactive ones also pipelined; of a
   * brief scenario the reactive modes alone, as they are.
   */
  List<PointPlan> contenders(List<Mode> modes) {
    List<PointPlan> contenders = new ArrayList<>();
    for (Mode mode : modes) {
      if (brief && !mode.canPipeline()) {
        continue;
      }
      contenders.add(new PointPlan(mode, POOL, POOL, false));
      if (!brief && mode.canPipeline() && !mode.throughOneRouter()) {
        contenders.add(new PointPlan(mode, POOL, SOCKETS, true));
      }
    }
    return contenders;
  }
}
