package dev.onehop.measure.points;

import dev.onehop.measure.frame.BenchCluster;
import dev.onehop.measure.frame.Sampler;
import dev.onehop.measure.frame.Sampler.Sample;
import dev.onehop.measure.frame.ServerWatch;
import dev.onehop.measure.results.ClientRun;
import dev.onehop.measure.results.Evidence;
import dev.onehop.measure.results.Latencies;
import dev.onehop.measure.results.Point;
import dev.onehop.resync.Failure;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Threads that each start an operation when their previous operation has ended. The number of
 * operations or the time is fixed.
 *
 * <p>Each thread has one operation in flight. N threads therefore execute at most N / R operations
 * per second at a mean round trip of R seconds. C connections with one operation each execute at
 * most C / R operations per second.
 *
 * @param operations the number of operations of all clients together; null if the time is fixed
 * @param duration the measured time; null if the number of operations is fixed
 * @param error the error at which the measurement ends: half the width of the 95 % interval of the
 *     throughput, as a fraction of the throughput. The measurement ends after {@link
 *     #MOST_TO_ERROR} at the latest. Null to measure all operations or the whole time
 */
record ClosedLoop(
    Warmup warmup, @Nullable Long operations, @Nullable Duration duration, @Nullable Double error)
    implements Load {

  /**
   * The time after which a measurement ends even if the error of its throughput is still larger.
   */
  static final Duration MOST_TO_ERROR = Duration.ofSeconds(25);

  private static final Duration GRACE = Duration.ofMinutes(1);

  /**
   * The time that is added to the time limit of a client that waits for other clients. It is a
   * little longer than the longest such wait.
   */
  static final Duration FOR_OTHERS = Duration.ofMinutes(11);

  /** The processor time of an operation on a small machine without delays, in milliseconds. */
  private static final double SERVICE_MILLIS = 0.15;

  /** The throughput of a small machine without delays, in operations per second. */
  private static final double LOCAL_PER_SECOND = 4_000;

  private static final double SAMPLED_PER_SECOND = 50;
  private static final double SAMPLED_PER_POINT = 10_000;

  ClosedLoop {
    if ((operations == null) == (duration == null)) {
      throw new IllegalArgumentException(
          "a point has a fixed number of operations or a fixed time");
    }
  }

  /**
   * Estimates the time of a cell by the arithmetic of a closed loop: each thread executes one
   * operation per mean round trip. If a pool has fewer connections than threads, each connection
   * executes one operation per mean round trip.
   */
  @Override
  public Duration estimate(PointCell cell, double meanRoundTripMillis) {
    Duration bounds = warmup.expected().plus(OVERHEAD);
    if (duration != null) {
      return bounds.plus(duration);
    }
    // A client with one pool per router distributes its operations evenly over the pools.
    int pools = cell.mode().throughOneRouter() ? 1 : 2;
    boolean capped = !cell.pipelining() || cell.mode().throughOneRouter();
    int underWay = capped ? Math.min(cell.threads(), cell.connections() * pools) : cell.threads();
    double millis =
        Objects.requireNonNull(operations)
            * Math.max(meanRoundTripMillis / underWay, SERVICE_MILLIS);
    return bounds.plus(
        Duration.ofMillis(
            (long) (error == null ? millis : Math.min(millis, (double) MOST_TO_ERROR.toMillis()))));
  }

  @Override
  public List<Record> measure(PointCell cell, YcsbClients clients)
      throws IOException, InterruptedException {
    BenchCluster cluster = clients.cluster();
    Path folder = clients.folder(cell.folder());
    Duration expected = estimate(cell, cluster.meanShardRoundTripMillis());
    Map<Path, YcsbArguments> arguments = arguments(cell, clients, folder);
    try (ServerWatch watch =
            cluster.watch(clients.workload().collection(), sampleRate(cell, clients, expected));
        YcsbClients.Running running = clients.start(arguments);
        Sampler<Reading> sampler = Reading.start(cluster, running)) {
      YcsbOutput output =
          running.await(
              expected
                  .multipliedBy(3)
                  .plus(clients.plan().isOne() ? GRACE : GRACE.plus(FOR_OTHERS)),
              false);
      List<Sample<Reading>> samples = sampler.stop();
      ClientRun together =
          clients.plan().isMerged()
              ? MergedClients.merge(folder, cell.folder(), List.copyOf(arguments.keySet()))
              : null;
      RunSummary summary = RunSummary.of(folder);
      if (summary.operations() == 0) {
        throw Failure.run("no operation was measured; YCSB's output is in " + folder, null);
      }
      Evidence evidence =
          watch.evidence(summary.firstOperationNanos(), summary.lastOperationNanos());
      Point point = point(cell, clients, output, summary, evidence, samples);
      return together == null ? List.of(point) : List.of(point, together);
    }
  }

  /** Returns the arguments of the single client, or of all clients that this bench runs. */
  private Map<Path, YcsbArguments> arguments(PointCell cell, YcsbClients clients, Path folder) {
    ClientPlan plan = clients.plan();
    Map<Path, YcsbArguments> all = new LinkedHashMap<>();
    for (int index : plan.here()) {
      Path own = plan.isMerged() ? MergedClients.folder(folder, index) : folder;
      YcsbArguments its = YcsbArguments.closedLoop(cell, clients, own);
      if (operations != null) {
        its.set("operationcount", plan.part(operations, index));
      }
      if (duration != null) {
        its.during(duration);
      }
      if (error != null) {
        its.set("onehop.error", error).set("onehop.duration", MOST_TO_ERROR.toMillis());
      }
      all.put(own, plan.isOne() ? its : its.client(plan, index, cell.folder()));
    }
    return all;
  }

  /**
   * Returns the fraction of operations to sample. The sample is so large that the share of each
   * router is known to one or two percent. It is so small that it does not slow the servers or fill
   * their logs in a long point.
   */
  private static double sampleRate(PointCell cell, YcsbClients clients, Duration expected) {
    Double bound =
        operationsPerSecond(
            cell.threads() * clients.plan().count(), clients.cluster().meanShardRoundTripMillis());
    double perSecond = bound == null ? LOCAL_PER_SECOND : Math.min(bound, LOCAL_PER_SECOND);
    double seconds = Math.max(1, expected.toSeconds());
    return Math.min(1, Math.min(SAMPLED_PER_SECOND, SAMPLED_PER_POINT / seconds) / perSecond);
  }

  private static Point point(
      PointCell cell,
      YcsbClients clients,
      YcsbOutput output,
      RunSummary summary,
      Evidence evidence,
      List<Sample<Reading>> samples) {
    int count = clients.plan().count();
    Double roundTrip = meanRoundTripMillis(evidence.share(), clients.cluster().shardRoundTrips());
    long errors = Math.max(summary.errors(), output.errors());
    Map<String, Long> failures = new TreeMap<>(output.failures());
    if (errors > output.errors()) {
      failures.merge("by the binding's count", errors - output.errors(), Long::sum);
    }
    Path folder = clients.folder(cell.folder());
    Latencies latencies = Latencies.of(folder);
    long logged = output.errors() + latencies.count();
    if (logged != summary.operations()) {
      clients
          .progress()
          .note(
              "note: the HdrHistogram logs in %s have %d of %d operations"
                  .formatted(folder, logged, summary.operations()));
    }
    int throughPool = Math.min(cell.threads(), cell.connections());
    return new Point(
        cell.client(),
        cell.threads(),
        summary.done(errors, failures),
        new Point.Bounds(
            operationsPerSecond(cell.threads() * count, roundTrip),
            cell.mode().throughOneRouter()
                ? operationsPerSecond(throughPool * count, roundTrip)
                : null,
            roundTrip),
        cell.mode().withoutRouter() ? evidence.withoutRouter() : evidence,
        Reading.cpuPerOperation(samples, summary),
        Reading.conditions(samples, summary),
        summary.routes(),
        cell.folder(),
        latencies);
  }

  /**
   * Returns the mean round trip of operations. The weight of a shard is its share of the
   * operations.
   *
   * @param share the fraction of operations of each shard; the sum need not be 1
   * @param roundTripMillis the round trip from the client's host to each shard's host
   * @return the mean in milliseconds; null if there were no operations or a shard's round trip is
   *     unknown
   */
  static @Nullable Double meanRoundTripMillis(
      Map<String, Double> share, Map<String, Double> roundTripMillis) {
    double weight = 0;
    double sum = 0;
    for (Map.Entry<String, Double> entry : share.entrySet()) {
      if (entry.getValue() == 0) {
        continue;
      }
      Double roundTrip = roundTripMillis.get(entry.getKey());
      if (roundTrip == null) {
        return null;
      }
      weight += entry.getValue();
      sum += entry.getValue() * roundTrip;
    }
    return weight == 0 ? null : sum / weight;
  }

  /**
   * Returns the upper bound of the operations per second.
   *
   * @param underWay the largest number of operations in flight at once
   * @return null if the round trip is unknown or zero
   */
  static @Nullable Double operationsPerSecond(int underWay, @Nullable Double roundTripMillis) {
    return roundTripMillis == null || roundTripMillis <= 0
        ? null
        : underWay * 1000.0 / roundTripMillis;
  }
}
