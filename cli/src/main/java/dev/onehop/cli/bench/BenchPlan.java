package dev.onehop.cli.bench;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What a bench run is to do.
 *
 * @param modes the modes, each once
 * @param threads the thread counts, ascending, each once
 * @param connections the pool size per server that all modes get
 * @param records documents to load
 * @param operations operations per point; null if points are bounded in time
 * @param duration measured time per point; null if points are bounded by operations
 * @param warmup time that each point spends on unmeasured operations first
 * @param rounds how often each point is measured
 * @param largePool the pool size that modes through one router are shown with too; 0 for none
 * @param largePoolAtMostThreadsOnly whether only the largest thread count is shown with it
 * @param pipelining which modes keep many requests in flight on each connection
 * @param properties YCSB properties that were given on the command line
 * @param scenario what is run in place of points; null for points
 */
public record BenchPlan(
    List<Mode> modes,
    List<Integer> threads,
    int connections,
    long records,
    @Nullable Long operations,
    @Nullable Duration duration,
    Duration warmup,
    int rounds,
    int largePool,
    boolean largePoolAtMostThreadsOnly,
    Pipelining pipelining,
    Map<String, String> properties,
    @Nullable ScenarioPlan scenario) {

  /** The pool size that shows what the routers alone cost, without the cap. */
  public static final int LARGE_POOL = 100;

  /** A warm-up after which the JVM's optimizing compiler has done most of its work. */
  public static final Duration LONG_WARMUP = Duration.ofSeconds(25);

  /** Checks that exactly one of operations and duration is given. */
  public BenchPlan {
    modes = List.copyOf(modes);
    threads = List.copyOf(threads);
    properties = Collections.unmodifiableMap(new LinkedHashMap<>(properties));
    if (rounds < 1) {
      throw new IllegalArgumentException("each point is measured at least once");
    }
    if ((operations == null) == (duration == null)) {
      throw new IllegalArgumentException("a point is bounded by operations or by time");
    }
  }

  /** Whether the warm-up is long enough for the optimizing compiler. */
  public boolean hasLongWarmup() {
    return warmup.compareTo(LONG_WARMUP) >= 0;
  }

  /**
   * The points, or the scenario's clients, in the order they run. Points are by thread count, the
   * modes rotated by one from each thread count to the next, so that no mode always runs first or
   * last.
   */
  List<PointPlan> points() {
    if (scenario != null) {
      return scenario.contenders(modes);
    }
    List<PointPlan> points = new ArrayList<>();
    List<Mode> order = new ArrayList<>(modes);
    int mostThreads = threads.get(threads.size() - 1);
    for (int count : threads) {
      for (Mode mode : order) {
        for (boolean pipelined : pipelining.variants(mode)) {
          points.add(new PointPlan(mode, count, connections, pipelined));
        }
        if (largePool > connections
            && mode.throughOneRouter()
            && count > connections
            && (count == mostThreads || !largePoolAtMostThreadsOnly)) {
          points.add(new PointPlan(mode, count, largePool, false));
        }
      }
      Collections.rotate(order, -1);
    }
    return points;
  }

  /**
   * The measurements in the order they run: all points, then all points again, so that what is
   * compared lies close together in each round, and a machine that others slow down for a while
   * spoils a round of every point rather than every round of one.
   */
  List<PointPlan> measurements() {
    if (rounds == 1) {
      return points();
    }
    List<PointPlan> measurements = new ArrayList<>();
    for (int round = 1; round <= rounds; round++) {
      for (PointPlan point : points()) {
        measurements.add(point.inRound(round));
      }
    }
    return measurements;
  }

  /**
   * How long one point will take by the closed-loop arithmetic: threads, or the pool where it is
   * smaller, each do one operation per mean round trip.
   *
   * @param meanRoundTripMillis mean over the shards
   */
  Duration estimate(PointPlan point, double meanRoundTripMillis) {
    Duration bounds = warmup.plus(POINT_OVERHEAD);
    if (duration != null) {
      return bounds.plus(duration);
    }
    // Per operation, what the processes on a small machine take when no distance does.
    double serviceMillis = 0.15;
    // With a pool per router, the operations of even shards share as many pools.
    int pools = point.mode().throughOneRouter() ? 1 : 2;
    boolean capped = !point.pipelining() || point.mode().throughOneRouter();
    int underWay =
        capped ? Math.min(point.threads(), point.connections() * pools) : point.threads();
    double millis =
        Objects.requireNonNull(operations)
            * Math.max(meanRoundTripMillis / underWay, serviceMillis);
    return bounds.plus(Duration.ofMillis((long) millis));
  }

  /** JVM start, connecting and clean-up of a point's process. */
  private static final Duration POINT_OVERHEAD = Duration.ofMillis(2500);

  /** {@link #estimate} over all measurements. */
  Duration estimate(double meanRoundTripMillis) {
    if (scenario != null) {
      return ScenarioRunner.estimate(scenario, warmup).multipliedBy(points().size());
    }
    return measurements().stream()
        .map(point -> estimate(point, meanRoundTripMillis))
        .reduce(Duration.ZERO, Duration::plus);
  }
}
