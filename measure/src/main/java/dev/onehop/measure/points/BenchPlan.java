package dev.onehop.measure.points;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import org.jspecify.annotations.Nullable;

/**
 * What a bench run is to do.
 *
 * @param modes the modes, each once
 * @param threads the thread counts, ascending, each once; none if no points are measured
 * @param connections the pool size per server that all modes get
 * @param records documents to load
 * @param operations operations per point; null if points are bounded in time
 * @param duration measured time per point; null if points are bounded by operations
 * @param error half the width of the 95 % interval of a point's throughput, as a fraction of it, at
 *     which it has been measured long enough, as it has after {@link #MOST_TO_ERROR}; null to
 *     measure to the last operation or the time
 * @param warmup time that each point spends on unmeasured operations first, at most
 * @param leastWarmup how long it does so if their rate is steady by then; null if that is not
 *     judged
 * @param rounds how often each point is measured
 * @param seed of the random order of the points, and of the resamples of intervals
 * @param largePool the pool size that modes through one router are shown with too; 0 for none
 * @param largePoolAtMostThreadsOnly whether only the largest thread count is shown with it
 * @param pipelining which modes keep many requests in flight on each connection
 * @param properties YCSB properties that were given on the command line
 * @param rate operations at fixed rates, in place of a closed loop; null for that
 * @param scenario what is run after the points, if there are any; null for none
 */
public record BenchPlan(
    List<Mode> modes,
    List<Integer> threads,
    int connections,
    long records,
    @Nullable Long operations,
    @Nullable Duration duration,
    @Nullable Double error,
    Duration warmup,
    @Nullable Duration leastWarmup,
    int rounds,
    long seed,
    int largePool,
    boolean largePoolAtMostThreadsOnly,
    Pipelining pipelining,
    Map<String, String> properties,
    @Nullable RatePlan rate,
    @Nullable ScenarioPlan scenario) {

  /** The parameters of Allanbank's experiment of 2014. */
  public static final List<Integer> SEED_THREADS = List.of(10, 25, 50, 75, 100);

  public static final int SEED_CONNECTIONS = 5;
  public static final long SEED_RECORDS = 100_000;
  public static final long SEED_OPERATIONS = 100_000;

  /** The pool size that shows what the routers alone cost, without the cap. */
  public static final int LARGE_POOL = 100;

  /** How long the warm-up takes at most until the rate is steady. */
  public static final Duration MOST_WARMUP = Duration.ofSeconds(40);

  /** A warm-up after which the JVM's optimizing compiler has done most of its work. */
  static final Duration LONG_WARMUP = Duration.ofSeconds(15);

  /** How long a point is measured at most if it ends at an error of its throughput. */
  static final Duration MOST_TO_ERROR = Duration.ofSeconds(25);

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

  /** What the parameters are known as; null if they are the run's own. */
  public @Nullable String experiment() {
    boolean of2014 =
        threads.equals(SEED_THREADS)
            && connections == SEED_CONNECTIONS
            && records == SEED_RECORDS
            && Long.valueOf(SEED_OPERATIONS).equals(operations);
    if (!of2014) {
      return null;
    }
    return "The experiment of 2014: 100,000 documents, 5 connections, 100,000 operations per point"
        + (error == null ? "" : ", or until its throughput is known to 2 %, or for 25 s");
  }

  /** Whether the warm-up is long enough for the optimizing compiler. */
  public boolean hasLongWarmup() {
    return warmup.compareTo(LONG_WARMUP) >= 0;
  }

  /**
   * The points, by thread count or by rate, the official
   * clients with a large pool beside the usual one, routed ones with and without pipelining.
   */
  List<PointPlan> points() {
    List<PointPlan> points = new ArrayList<>();
    if (rate != null) {
      rate.rates()
          .forEach(
              perSecond -> contenders().forEach(client -> points.add(client.atRate(perSecond))));
      return points;
    }
    for (int count : threads) {
      for (Mode mode : modes) {
        for (boolean pipelined : pipelining.variants(mode)) {
          points.add(new PointPlan(mode, count, connections, pipelined));
        }
        if (largePool > connections
            && mode.throughOneRouter()
            && !mode.isPipelinedOnly()
            && count > connections
            && (count == mostThreads() || !largePoolAtMostThreadsOnly)) {
          points.add(new PointPlan(mode, count, largePool, false));
        }
      }
    }
    return points;
  }

  private int mostThreads() {
    return threads.get(threads.size() - 1);
  }

  /**
   * The clients that are compared at a rate: the official ones with the driver's default pool and
   * with the usual one, the others with the former, and pipelined over the latter's sockets.
   */
  private List<PointPlan> contenders() {
    List<PointPlan> contenders = new ArrayList<>();
    for (Mode mode : modes) {
      for (boolean pipelined : pipelining.variants(mode)) {
        int pool = pipelined ? connections : LARGE_POOL;
        contenders.add(new PointPlan(mode, LARGE_POOL, pool, pipelined));
        if (mode.throughOneRouter() && !pipelined && connections != LARGE_POOL) {
          contenders.add(new PointPlan(mode, LARGE_POOL, connections, false));
        }
      }
    }
    return contenders;
  }

  /**
   * The measurements in the order they run: in each round all points in a random order of its own,
   * so that what is compared lies close together, none always runs before another, and a machine
   * that others slow down for a while spoils a round of every point rather than every round of one.
   */
  List<PointPlan> measurements() {
    Random random = new Random(seed);
    List<PointPlan> measurements = new ArrayList<>();
    for (int round = 1; round <= rounds; round++) {
      int number = rounds == 1 ? 0 : round;
      List<PointPlan> order =
          new ArrayList<>(points().stream().map(point -> point.inRound(number)).toList());
      Collections.shuffle(order, random);
      measurements.addAll(order);
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
    Duration bounds = expectedWarmup().plus(POINT_OVERHEAD);
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
    return bounds.plus(
        Duration.ofMillis(
            (long) (error == null ? millis : Math.min(millis, (double) MOST_TO_ERROR.toMillis()))));
  }

  /** A warm-up that is judged takes something between. */
  private Duration expectedWarmup() {
    return leastWarmup == null ? warmup : warmup.plus(leastWarmup).dividedBy(2);
  }

  /** JVM start, connecting and clean-up of a point's process. */
  private static final Duration POINT_OVERHEAD = Duration.ofMillis(2500);

  /** {@link #estimate} over all measurements, without the scenario. */
  Duration estimate(double meanRoundTripMillis) {
    return measurements().stream()
        .map(point -> estimate(point, meanRoundTripMillis))
        .reduce(Duration.ZERO, Duration::plus);
  }
}
