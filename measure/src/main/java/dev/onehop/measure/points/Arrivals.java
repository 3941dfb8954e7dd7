package dev.onehop.measure.points;

import dev.onehop.measure.results.Conditions;
import dev.onehop.measure.results.CpuPerOperation;
import dev.onehop.measure.results.ScenarioEntry;
import dev.onehop.measure.results.ShardLatencies;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Operations at intended times, whether or not those before are answered. Immutable.
 *
 * @param perSecond how many per second
 * @param poisson whether they are spread as those of many independent users, and not evenly
 * @param duration how long they are issued, in whole seconds
 */
public record Arrivals(double perSecond, boolean poisson, Duration duration) {

  /** The highest rate that is issued, in operations per second. */
  public static final double MOST_PER_SECOND = 100_000;

  /** As results and the binding call it. */
  String kind() {
    return poisson ? "poisson" : "constant";
  }

  int seconds() {
    return (int) duration.toSeconds();
  }

  /**
   * The figures of a phase.
   *
   * @param seconds how long the phase was
   */
  ScenarioEntry entry(
      PointCell cell,
      String scenario,
      String phase,
      String shards,
      ShardLatencies.Phase figures,
      double seconds,
      @Nullable CpuPerOperation cpu,
      @Nullable Conditions conditions) {
    return new ScenarioEntry(
        scenario,
        cell.client(),
        perSecond,
        kind(),
        phase,
        shards,
        figures,
        seconds,
        List.of(),
        cpu,
        conditions,
        cell.folder());
  }
}
