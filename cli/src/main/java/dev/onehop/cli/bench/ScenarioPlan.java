package dev.onehop.cli.bench;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * A scenario that is to be run.
 *
 * @param scenario what happens
 * @param rate operations per second
 * @param poisson whether intended times are spread as of many independent users, and not evenly
 * @param duration how long operations are issued
 * @param from when the fault begins
 * @param to when it ends
 */
public record ScenarioPlan(
    Scenario scenario,
    double rate,
    boolean poisson,
    Duration duration,
    Duration from,
    Duration to) {

  /** The driver's default pool. */
  private static final int POOL = 100;

  /** What a pipelined client needs at the most. */
  private static final int SOCKETS = 5;

  /** 25 seconds, of which the cluster is ill from the 8th to the 16th. */
  public static ScenarioPlan of(Scenario scenario, double rate, boolean poisson) {
    return new ScenarioPlan(
        scenario,
        rate,
        poisson,
        Duration.ofSeconds(25),
        Duration.ofSeconds(8),
        Duration.ofSeconds(16));
  }

  /** Each mode at the official driver's default pool, routed reactive ones also pipelined. */
  List<PointPlan> contenders(List<Mode> modes) {
    List<PointPlan> contenders = new ArrayList<>();
    for (Mode mode : modes) {
      contenders.add(new PointPlan(mode, POOL, POOL, false));
      if (mode.canPipeline() && !mode.throughOneRouter()) {
        contenders.add(new PointPlan(mode, POOL, SOCKETS, true));
      }
    }
    return contenders;
  }
}
