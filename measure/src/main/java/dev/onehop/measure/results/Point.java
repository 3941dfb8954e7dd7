package dev.onehop.measure.results;

import com.fasterxml.jackson.annotation.JsonUnwrapped;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * One measured point: a mode at a number of threads with a pool size. The parts of its records
 * stand beside each other in the file. Immutable.
 *
 * @param client the client, apart from its threads
 * @param threads YCSB client threads, each with one operation under way
 * @param done the operations that it did
 * @param bounds what it could have done at most
 * @param evidence what the servers say
 * @param cpu processor time per operation; null where nothing is known of it
 * @param conditions how it was measured; null where nothing is known of it
 * @param routes what the client says it decided, per decision; its own counters, no evidence
 * @param folder where the point's logs are, relative to the results' folder
 * @param latencies by kind of operation
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
   * The operations that a client did.
   *
   * @param seconds from the start of the first measured operation to the end of the last
   * @param operations operations done in that time, failed ones included
   * @param errors failed operations among them, and in all other rounds
   * @param throughput operations per second
   * @param rounds the throughput of every round, as they were measured; this one is the median
   * @param failures failed operations per operation and status, empty if there were none
   */
  public record Done(
      double seconds,
      long operations,
      long errors,
      double throughput,
      List<Double> rounds,
      Map<String, Long> failures) {

    /** What an older or hand-made file left out is none. */
    public Done {
      rounds = rounds == null || rounds.isEmpty() ? List.of(throughput) : List.copyOf(rounds);
      failures = failures == null ? Map.of() : failures;
    }

    /** The failed operations of several, by operation and status. */
    public static Map<String, Long> failures(List<Point> points) {
      Map<String, Long> failures = new TreeMap<>();
      points.forEach(
          point ->
              point.done.failures.forEach((what, count) -> failures.merge(what, count, Long::sum)));
      return failures;
    }
  }

  /**
   * What a closed loop can do at most.
   *
   * @param limit the closed-loop bound in operations per second; null where it can't be told
   * @param poolLimit the bound that a pool of {@code connections} to one router adds, in operations
   *     per second; null for modes that it doesn't hold for
   * @param meanRoundTripMillis mean round trip of the operations that ran, weighted by owning shard
   */
  public record Bounds(
      @Nullable Double limit, @Nullable Double poolLimit, @Nullable Double meanRoundTripMillis) {}

  /** What an older or hand-made file left out is none. */
  public Point {
    routes = routes == null ? Map.of() : routes;
    folder = folder == null ? "" : folder;
  }

  /**
   * A point that was measured several times: the round of median throughput, the lower of two, with
   * the failed operations of all, since those are no outliers to be left out.
   *
   * @param rounds in the order measured, at least one
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

  /** Operations per second. */
  public double throughput() {
    return done.throughput;
  }

  /** Failed operations, over all rounds. */
  public long errors() {
    return done.errors;
  }

  /** Throughput as a fraction of the closed-loop limit; null where there is no limit. */
  public @Nullable Double ofLimit() {
    return bounds.limit == null ? null : (Double) (done.throughput / bounds.limit);
  }

  /** Half the 95 % interval of the throughput in percent of it; null if it is not known. */
  public @Nullable Double errorPercent() {
    Double error = conditions == null ? null : conditions.error();
    return error == null ? null : (Double) (error * 100);
  }
}
