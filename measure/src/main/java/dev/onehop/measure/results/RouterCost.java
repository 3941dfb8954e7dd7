package dev.onehop.measure.results;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonInclude.Include;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What an operation costs a stand-in router, beside what it costs a mongos.
 *
 * @param kind {@code own} for what the stand-in needs, {@code real} if it is made to cost as much
 *     as a mongos by computing for nothing
 * @param microsPerOperation processor time of the router per operation in microseconds, measured in
 *     this run where all operations pass one router; null if nothing tells
 * @param realMicros the same of a mongos, measured once on this project's machine
 * @param factor how many times as much a mongos takes; null likewise
 */
@JsonInclude(Include.ALWAYS)
public record RouterCost(
    String kind, @Nullable Double microsPerOperation, double realMicros, @Nullable Double factor) {

  /** The middle of the 300 to 340 us that a mongos 5.0 and 6.0 took on this project's machine. */
  public static final double REAL_MICROS = 320;

  /** The same as a duration. */
  public static final Duration REAL_TIME = Duration.ofNanos((long) (REAL_MICROS * 1000));

  /** The kind that is made to cost more. */
  public static final String REAL = "real";

  /**
   * What a run's points tell.
   *
   * @param points of which those through one router count
   * @param real whether each request was made to cost what a mongos takes
   */
  public static RouterCost of(List<Point> points, boolean real) {
    List<Double> measured =
        points.stream()
            .filter(point -> Client.isOfficial(point.mode()))
            .map(point -> point.cpu() == null ? null : point.cpu().routers())
            .filter(micros -> micros != null && micros > 0)
            .sorted()
            .toList();
    Double median = measured.isEmpty() ? null : measured.get((measured.size() - 1) / 2);
    return new RouterCost(
        real ? REAL : "own",
        median,
        REAL_MICROS,
        median == null ? null : (Double) (Math.round(REAL_MICROS / median * 100) / 100.0));
  }

  /** For a person, a sentence or two. */
  public String sentence() {
    if (kind.equals(REAL)) {
      return "Router cost as of a real mongos (--router-cost real): each request costs the stand-in %.0f us of processor time, what it does not need for the request it computes for nothing; measured %s."
          .formatted(
              realMicros,
              microsPerOperation == null
                  ? "nowhere"
                  : "%.0f us per operation".formatted(microsPerOperation));
    }
    return microsPerOperation == null || factor == null
        ? "A real mongos took 300 to 340 us of processor time per operation on this project's machine; what the stand-in took was not measured."
        : "A real mongos took 300 to 340 us of processor time per operation on this project's machine, the stand-in %.0f us here: a factor of %.1f (--router-cost real shows what that makes)."
            .formatted(microsPerOperation, factor);
  }
}
