package dev.onehop.measure.results;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonInclude.Include;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The cost of an operation for a stand-in router, compared with a mongos.
 *
 * @param kind always {@code own}: the stand-in's cost
 * @param microsPerOperation processor time of the router per operation in microseconds, measured in
 *     this run for modes through one router; null if unknown
 * @param realMicros the processor time of a mongos, measured once on this project's machine
 * @param factor the mongos' time divided by the stand-in's; null if unknown
 */
@JsonInclude(Include.ALWAYS)
public record RouterCost(
    String kind, @Nullable Double microsPerOperation, double realMicros, @Nullable Double factor) {

  /** The middle of the 300 to 340 us that mongos 5.0 and 6.0 took on this project's machine. */
  public static final double REAL_MICROS = 320;

  /**
   * The cost by a run's points.
   *
   * @param points of a run; only those through one router count
   */
  public static RouterCost of(List<Point> points) {
    List<Double> measured =
        points.stream()
            .filter(point -> Client.isOfficial(point.client().mode()))
            .map(point -> point.cpu() == null ? null : point.cpu().routers())
            .filter(micros -> micros != null && micros > 0)
            .sorted()
            .toList();
    Double median = measured.isEmpty() ? null : measured.get((measured.size() - 1) / 2);
    return new RouterCost(
        "own",
        median,
        REAL_MICROS,
        median == null ? null : (Double) (Math.round(REAL_MICROS / median * 100) / 100.0));
  }

  /** The comparison in a sentence or two. */
  public String sentence() {
    return microsPerOperation == null || factor == null
        ? "A real mongos took 300 to 340 us of processor time per operation on this project's machine; the stand-in's was not measured."
        : "A real mongos took 300 to 340 us of processor time per operation on this project's machine, the stand-in %.0f us here: a factor of %.1f."
            .formatted(microsPerOperation, factor);
  }
}
