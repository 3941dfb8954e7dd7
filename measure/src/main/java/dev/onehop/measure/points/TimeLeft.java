package dev.onehop.measure.points;

import java.time.Duration;
import java.util.List;

/** How long the rest of a run will take: the closed loop's arithmetic, corrected by experience. */
final class TimeLeft {

  private final BenchPlan plan;
  private final List<PointPlan> points;
  private final double roundTripMillis;
  private double estimatedSoFar;
  private double tookSoFar;

  TimeLeft(BenchPlan plan, List<PointPlan> points, double roundTripMillis) {
    this.plan = plan;
    this.points = points;
    this.roundTripMillis = roundTripMillis;
  }

  /** How long the i-th point is expected to take. */
  Duration estimate(int i) {
    double correction = estimatedSoFar == 0 ? 1 : tookSoFar / estimatedSoFar;
    return Duration.ofMillis((long) (raw(i) * correction));
  }

  /** How long the i-th point and all after it are expected to take. */
  Duration from(int i) {
    Duration left = Duration.ZERO;
    for (int j = i; j < points.size(); j++) {
      left = left.plus(estimate(j));
    }
    return left;
  }

  /** Learns how long the i-th point took. */
  void took(int i, Duration duration) {
    estimatedSoFar += raw(i);
    tookSoFar += duration.toMillis();
  }

  private double raw(int i) {
    return plan.estimate(points.get(i), roundTripMillis).toMillis();
  }
}
