package dev.onehop.measure.results;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The processor time of a stand-in router per operation, and the factor by which a mongos takes
 * more.
 *
 * @param kind always {@code own}, for the stand-in router
 * @param microsPerOperation the processor time of the stand-in router per operation, in
 *     microseconds; null if unknown. It is measured in this run with the official clients, whose
 *     operations pass through one router
 * @param realMicros the processor time of a mongos per operation in microseconds, measured once on
 *     this project's machine
 * @param factor the time of a mongos divided by the time of the stand-in router; null if unknown
 */
public record RouterCost(
    String kind, @Nullable Double microsPerOperation, double realMicros, @Nullable Double factor) {

  /**
   * The processor time of a mongos per operation, in microseconds. On this project's machine,
   * mongos 5.0 and 6.0 took 300 to 340, and this is the middle.
   */
  public static final double REAL_MICROS = 320;

  /**
   * Computes the cost from a run's points.
   *
   * @param points the points of a run; only points of official clients count
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

  /** Returns the comparison in words. */
  public String sentence() {
    return microsPerOperation == null || factor == null
        ? "On OneHop's own test machine, a mongos took 300 to 340 us of processor time per"
            + " operation. The time of the stand-in router was not measured."
        : ("On OneHop's own test machine, a mongos took 300 to 340 us of processor time per"
                + " operation. In this run, the stand-in router took %.0f us, so a mongos takes %.1f"
                + " times as long.")
            .formatted(microsPerOperation, factor);
  }
}
