package dev.onehop.measure.results;

import com.fasterxml.jackson.annotation.JsonUnwrapped;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * One measured point: a mode at a number of threads with a pool size. In the file, the fields of
 * its records are at the same level as the other fields. Immutable.
 *
 * @param client the client, without its threads
 * @param threads the number of YCSB's client threads, each with one operation in flight
 * @param done the executed operations
 * @param bounds the upper bounds of the throughput
 * @param evidence the servers' own figures
 * @param cpu the processor time per operation; null if unknown
 * @param conditions the conditions of the measurement; null if unknown
 * @param routes the client's own counters of its routing decisions
 * @param folder the folder of the point's logs, relative to the results' folder
 * @param latencies the latencies by kind of operation
 */
public record Point(
    @JsonUnwrapped Client client,
    int threads,
    @JsonUnwrapped Done done,
    @JsonUnwrapped Bounds bounds,
    @JsonUnwrapped Evidence evidence,
    @Nullable CpuPerOperation cpu,
    @Nullable Conditions conditions,
    Map<String, Long> routes,
    String folder,
    @JsonUnwrapped Latencies latencies) {

  /**
   * The operations that a client executed.
   *
   * @param seconds the time from the start of the first measured operation to the end of the last
   * @param operations the number of operations in that time, including failed operations
   * @param errors the number of failed operations, including the failed operations of all other
   *     rounds
   * @param throughput the operations per second
   * @param rounds the throughput of every round, in the order of measurement; the other figures are
   *     from the median round
   * @param failures the number of failed operations by operation and status; empty if there were
   *     none
   */
  public record Done(
      double seconds,
      long operations,
      long errors,
      double throughput,
      List<Double> rounds,
      Map<String, Long> failures) {

    /** Replaces missing rounds: older or hand-made files have none. */
    public Done {
      rounds = rounds == null || rounds.isEmpty() ? List.of(throughput) : List.copyOf(rounds);
    }

    /** Returns the number of failed operations of several points, by operation and status. */
    public static Map<String, Long> failures(List<Point> points) {
      Map<String, Long> failures = new TreeMap<>();
      points.forEach(
          point ->
              point.done.failures.forEach((what, count) -> failures.merge(what, count, Long::sum)));
      return failures;
    }
  }

  /**
   * The upper bounds of a closed loop.
   *
   * @param limit the bound of a closed loop, in operations per second; null if unknown
   * @param poolLimit the bound of a pool of {@code connections} to one router, in operations per
   *     second; null for modes without this bound
   * @param meanRoundTripMillis the mean round trip of the executed operations, weighted by their
   *     owning shards
   */
  public record Bounds(
      @Nullable Double limit, @Nullable Double poolLimit, @Nullable Double meanRoundTripMillis) {}

  /** Replaces a missing folder: older or hand-made files have none. */
  public Point {
    folder = folder == null ? "" : folder;
  }

  /**
   * Returns the result of several rounds: the round with the median throughput, or the lower of the
   * two middle rounds. It has the failed operations of all rounds, because a failure is never an
   * outlier.
   *
   * @param rounds the rounds in the order of measurement; at least one
   */
  public static Point median(List<Point> rounds) {
    List<Point> ascending =
        rounds.stream().sorted(Comparator.comparingDouble(Point::throughput)).toList();
    Point median = ascending.get((ascending.size() - 1) / 2);
    Done done =
        new Done(
            median.done.seconds,
            median.done.operations,
            rounds.stream().mapToLong(Point::errors).sum(),
            median.done.throughput,
            rounds.stream().map(Point::throughput).toList(),
            Done.failures(rounds));
    return new Point(
        median.client,
        median.threads,
        done,
        median.bounds,
        median.evidence,
        median.cpu,
        median.conditions,
        median.routes,
        median.folder,
        median.latencies);
  }

  /** The operations per second. */
  public double throughput() {
    return done.throughput;
  }

  /** The number of failed operations of all rounds. */
  public long errors() {
    return done.errors;
  }

  /** The throughput as a fraction of the closed-loop limit; null without a limit. */
  public @Nullable Double ofLimit() {
    return bounds.limit == null ? null : (Double) (done.throughput / bounds.limit);
  }

  /**
   * Half the width of the 95 % interval of the throughput, in percent of the throughput; null if
   * unknown.
   */
  public @Nullable Double errorPercent() {
    Double error = conditions == null ? null : conditions.error();
    return error == null ? null : (Double) (error * 100);
  }
}
