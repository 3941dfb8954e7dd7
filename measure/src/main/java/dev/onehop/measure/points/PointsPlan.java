package dev.onehop.measure.points;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The measurements of a bench run: points, each in all rounds, and scenarios before or after them.
 * Used by one thread. The methods that add measurements return the plan.
 */
public final class PointsPlan {

  /** The numbers of threads of Allanbank's experiment of 2014. */
  public static final List<Integer> SEED_THREADS = List.of(10, 25, 50, 75, 100);

  /** The pool size of the experiment of 2014. It is the default pool size of this bench. */
  public static final int SEED_CONNECTIONS = 5;

  /** The number of documents of the experiment of 2014. */
  public static final long SEED_RECORDS = 100_000;

  /** The number of operations of each point of the experiment of 2014. */
  public static final long SEED_OPERATIONS = 100_000;

  /** The default pool size of the drivers. */
  public static final int DEFAULT_POOL = 100;

  /**
   * A point of the experiment ends when its throughput is known to this error: 2 % in each
   * direction.
   */
  private static final double SEED_ERROR = 0.02;

  /** The number of sockets of a pipelined client in a scenario. */
  private static final int SOCKETS = 5;

  private final Map<String, String> properties;
  private final int rounds;
  private final long seed;
  private final List<PointCell> before = new ArrayList<>();
  private final List<PointCell> points = new ArrayList<>();
  private final List<PointCell> after = new ArrayList<>();
  private @Nullable String experiment;

  private PointsPlan(Map<String, String> properties, int rounds, long seed) {
    this.properties = Collections.unmodifiableMap(new LinkedHashMap<>(properties));
    this.rounds = rounds;
    this.seed = seed;
  }

  /**
   * Returns an empty plan.
   *
   * @param properties the YCSB properties from the command line
   * @param rounds the number of measurements of each point, at least one
   * @param seed the seed of the random order of the points, and of the resampling for the intervals
   *     of ratios
   */
  public static PointsPlan of(Map<String, String> properties, int rounds, long seed) {
    if (rounds < 1) {
      throw new IllegalArgumentException("rounds must be at least 1");
    }
    return new PointsPlan(properties, rounds, seed);
  }

  private PointsPlan withScenario(List<PointCell> cells) {
    (points.isEmpty() ? before : after).addAll(cells);
    return this;
  }

  /**
   * Adds closed loops: every mode at each number of threads. If there are more threads than
   * connections, clients through one router also run with the driver's default pool.
   *
   * @param threads the numbers of threads, ascending, each once
   * @param connections the pool size per server of all modes
   * @param pipelining the modes with many requests in flight on each connection
   * @param largePoolAtMostThreadsOnly whether the default pool is measured only at the highest
   *     number of threads
   * @param warmup the unmeasured operations before each point
   * @param operations the number of operations per point; null if the time is fixed
   * @param duration the measured time per point; null if the number of operations is fixed
   */
  public PointsPlan closedLoops(
      List<Mode> modes,
      List<Integer> threads,
      int connections,
      Pipelining pipelining,
      boolean largePoolAtMostThreadsOnly,
      Warmup warmup,
      @Nullable Long operations,
      @Nullable Duration duration) {
    return loops(
        modes,
        threads,
        connections,
        pipelining,
        largePoolAtMostThreadsOnly,
        new ClosedLoop(warmup, operations, duration, null));
  }

  /**
   * Adds the points of the experiment of 2014.
   *
   * @param records the number of documents
   * @param operations the number of operations of each point, which are all measured. Null for the
   *     number of 2014; a point then ends earlier if its throughput is known to 2 %
   */
  public PointsPlan seedExperiment(
      List<Mode> modes,
      Pipelining pipelining,
      Warmup warmup,
      long records,
      @Nullable Long operations) {
    boolean of2014 =
        records == SEED_RECORDS && (operations == null || operations == SEED_OPERATIONS);
    String name =
        "The experiment of 2014: 100,000 documents, 5 connections, 100,000 operations per point"
            + (operations == null ? ", or until its throughput is known to 2 %, or for 25 s" : "");
    experiment = of2014 ? name : null;
    return loops(
        modes,
        SEED_THREADS,
        SEED_CONNECTIONS,
        pipelining,
        false,
        new ClosedLoop(
            warmup,
            operations == null ? (Long) SEED_OPERATIONS : operations,
            null,
            operations == null ? (Double) SEED_ERROR : null));
  }

  private PointsPlan loops(
      List<Mode> modes,
      List<Integer> threads,
      int connections,
      Pipelining pipelining,
      boolean largePoolAtMostThreadsOnly,
      Load load) {
    int most = threads.get(threads.size() - 1);
    for (int count : threads) {
      for (Mode mode : modes) {
        points.addAll(cells(mode, pipelining, count, connections, connections, load));
        if (DEFAULT_POOL > connections
            && mode.throughOneRouter()
            && !mode.isPipelinedOnly()
            && count > connections
            && (count == most || !largePoolAtMostThreadsOnly)) {
          points.add(new PointCell(mode, count, DEFAULT_POOL, false, load));
        }
      }
    }
    return this;
  }

  /** Returns a client in each of its variants: with a pool, and pipelined over sockets. */
  private static List<PointCell> cells(
      Mode mode, Pipelining pipelining, int threads, int pool, int sockets, Load load) {
    return pipelining.variants(mode).stream()
        .map(pipelined -> new PointCell(mode, threads, pipelined ? sockets : pool, pipelined, load))
        .toList();
  }

  /**
   * Adds a closed loop of every mode with the driver's default pool.
   *
   * @param threads the number of threads
   */
  public PointsPlan defaultPools(List<Mode> modes, int threads, Warmup warmup, Duration duration) {
    Load load = new ClosedLoop(warmup, null, duration, null);
    for (Mode mode : modes) {
      PointCell cell = new PointCell(mode, threads, DEFAULT_POOL, false, load);
      if (!points.contains(cell)) {
        points.add(cell);
      }
    }
    return this;
  }

  /**
   * Adds operations at fixed rates. Clients have the driver's default pool, and pipelined clients
   * have {@code connections} sockets. Clients through one router also run with a pool of {@code
   * connections}.
   *
   * @param rates the rates in operations per second, ascending
   */
  public PointsPlan rates(
      List<Mode> modes,
      List<Double> rates,
      boolean poisson,
      int connections,
      Pipelining pipelining,
      Warmup warmup,
      Duration duration) {
    for (double rate : rates) {
      Load load = new FixedRate(warmup, new Arrivals(rate, poisson, duration));
      for (Mode mode : modes) {
        for (PointCell cell :
            cells(mode, pipelining, DEFAULT_POOL, DEFAULT_POOL, connections, load)) {
          points.add(cell);
          if (mode.throughOneRouter() && !cell.pipelining() && connections != DEFAULT_POOL) {
            points.add(new PointCell(mode, DEFAULT_POOL, connections, false, load));
          }
        }
      }
    }
    return this;
  }

  /**
   * Adds a fault. The fault is measured before points that are added later. Each mode runs with the
   * driver's default pool. Routed reactive modes also run pipelined, except in a brief measurement.
   * A measurement takes 25 seconds, with the fault from the 8th to the 16th second. A brief
   * measurement takes 15 seconds, with the fault from the 4th to the 11th second.
   *
   * @param warmup the warm-up; null for the default
   */
  public PointsPlan fault(
      Scenario scenario,
      List<Mode> modes,
      double rate,
      boolean poisson,
      @Nullable Warmup warmup,
      boolean brief) {
    Load load =
        new Fault(
            scenario,
            warmup(warmup, brief),
            new Arrivals(rate, poisson, Duration.ofSeconds(brief ? 15 : 25)),
            Duration.ofSeconds(brief ? 4 : 8),
            Duration.ofSeconds(brief ? 11 : 16));
    return withScenario(contenders(modes, brief ? Pipelining.OFF : Pipelining.TARGETED, load));
  }

  private static List<PointCell> contenders(List<Mode> modes, Pipelining pipelining, Load load) {
    return modes.stream()
        .flatMap(
            mode -> cells(mode, pipelining, DEFAULT_POOL, DEFAULT_POOL, SOCKETS, load).stream())
        .toList();
  }

  /**
   * Adds many instances of an application, which issue bursts in turn until each instance has
   * issued three. Clients with few sockets run first, because servers keep memory that they have
   * used.
   */
  public PointsPlan fleet(
      List<Mode> modes, int instances, double rate, boolean poisson, @Nullable Warmup warmup) {
    long seconds = Math.max(25, (long) Math.ceil(3.0 * instances * DEFAULT_POOL / rate));
    Load load =
        new Fleet(
            warmup(warmup, false),
            new Arrivals(rate, poisson, Duration.ofSeconds(seconds)),
            instances);
    return withScenario(
        contenders(modes, Pipelining.TARGETED, load).stream()
            .sorted(Comparator.comparingInt(PointCell::connections))
            .toList());
  }

  /**
   * Adds an application in each zone. Every mode runs in its default configuration and in the
   * configuration with the least traffic across zones. Each configuration is measured twice: with
   * reads that any member may serve, and with reads and updates on primaries.
   *
   * @param zones the zones of the application, one after the other
   */
  public PointsPlan zones(
      List<Mode> modes, List<String> zones, double rate, @Nullable Warmup warmup) {
    List<PointCell> cells = new ArrayList<>();
    for (String zone : zones) {
      for (boolean reads : new boolean[] {true, false}) {
        for (Mode mode : modes) {
          for (boolean spares : new boolean[] {false, true}) {
            Load load =
                ZoneTraffic.of(
                    warmup(warmup, false), rate, zone, reads, mode.throughOneRouter(), spares);
            cells.addAll(contenders(List.of(mode), Pipelining.OFF, load));
          }
        }
      }
    }
    return withScenario(cells);
  }

  private static Warmup warmup(@Nullable Warmup given, boolean brief) {
    return given != null ? given : Warmup.of(Duration.ofSeconds(brief ? 6 : 15));
  }

  /** The YCSB properties from the command line. */
  Map<String, String> properties() {
    return properties;
  }

  int rounds() {
    return rounds;
  }

  long seed() {
    return seed;
  }

  /**
   * The name of the experiment with these parameters; null if no experiment has these parameters.
   */
  public @Nullable String experiment() {
    return experiment;
  }

  /** Returns all measurements, each once, in display order. */
  List<PointCell> all() {
    return Stream.of(before, points, after).flatMap(List::stream).toList();
  }

  /** The measurements before the points. */
  List<PointCell> before() {
    return before;
  }

  /** The points, in display order. */
  List<PointCell> points() {
    return points;
  }

  /** The titles of all measurements, in display order. */
  public List<String> titles() {
    return all().stream().map(PointCell::title).toList();
  }

  /**
   * Returns the measurements in the order of execution. Each round has all points in a new random
   * order. Points of one round are therefore close in time, and no point always runs before
   * another. A slow phase of the machine affects one round of every point. It does not affect every
   * round of one point.
   */
  List<PointCell> measurements() {
    Random random = new Random(seed);
    List<PointCell> measurements = new ArrayList<>(before);
    for (int round = 1; round <= rounds; round++) {
      int number = rounds == 1 ? 0 : round;
      List<PointCell> order =
          new ArrayList<>(points.stream().map(point -> point.inRound(number)).toList());
      Collections.shuffle(order, random);
      measurements.addAll(order);
    }
    measurements.addAll(after);
    return measurements;
  }

  /** Whether the warm-up of the points is long enough for the optimizing compiler. */
  public boolean hasLongWarmup() {
    List<PointCell> cells = points.isEmpty() ? all() : points;
    return cells.get(0).load().warmup().isLong();
  }

  /** The expected time of all measurements. */
  Duration estimate(double meanRoundTripMillis) {
    return measurements().stream()
        .map(cell -> cell.load().estimate(cell, meanRoundTripMillis))
        .reduce(Duration.ZERO, Duration::plus);
  }
}
