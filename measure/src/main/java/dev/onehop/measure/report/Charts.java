package dev.onehop.measure.report;

import dev.onehop.measure.report.LineChart.Size;
import dev.onehop.measure.report.LineChart.Spot;
import dev.onehop.measure.results.HdrLogs;
import dev.onehop.measure.results.LatencySummary;
import dev.onehop.measure.results.Point;
import dev.onehop.measure.results.Results;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.DoubleSummaryStatistics;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/** The report's charts: which numbers go on which axes. */
final class Charts {

  /** Below it a logarithmic axis of latencies does not go. */
  private static final double LEAST_MILLIS = 0.01;

  /** A bound this many times above all that was reached would only press the lines together. */
  private static final double OUT_OF_SIGHT = 10;

  private final Results results;
  private final List<Series> series;
  private final List<Integer> threads;

  Charts(Results results) {
    this.results = results;
    this.series = Series.of(results);
    this.threads = results.points().stream().map(Point::threads).distinct().sorted().toList();
  }

  List<Series> series() {
    return series;
  }

  List<Integer> threads() {
    return threads;
  }

  /** Throughput by threads, with the closed-loop limit and the pool's bound. */
  String throughput(Size size) {
    DoubleSummaryStatistics rates = new DoubleSummaryStatistics();
    results.points().stream()
        .flatMap(point -> point.rounds().stream())
        .filter(v -> v > 0)
        .forEach(rates::accept);
    if (rates.getCount() == 0) {
      rates.accept(1);
    }
    List<Spot> limit = inSight(averages(Point::limit), rates.getMax());
    List<Spot> pool = inSight(averages(Point::poolLimit, smallestPool()), rates.getMax());
    limit.forEach(spot -> rates.accept(spot.y()));
    pool.forEach(spot -> rates.accept(spot.y()));
    LineChart chart =
        new LineChart(
            "Throughput by threads, in operations per second",
            size,
            Axis.threads(threads),
            Axis.logarithmic("operations per second (log scale)", rates.getMin(), rates.getMax()));
    chart.bound("pool", named("pool bound", pool), pool);
    chart.bound("limit", named("closed-loop limit", limit), limit);
    for (Series one : series) {
      List<Spot> spots = throughputs(one);
      chart.line(one, named(one.name(smallestPool()), spots), spots);
    }
    return chart.toSvg();
  }

  private static List<Spot> inSight(List<Spot> bound, double reached) {
    boolean far = !bound.isEmpty() && bound.get(bound.size() - 1).y() > OUT_OF_SIGHT * reached;
    return far ? List.of() : bound;
  }

  /** A line's name with the value that it ends with. */
  private static String named(String name, List<Spot> spots) {
    return spots.isEmpty() ? name : name + "  " + Format.rate(spots.get(spots.size() - 1).y());
  }

  /** One latency figure of an operation by threads, with the mean round trip as its bound. */
  String latency(String operation, String figure, ToDoubleFunction<LatencySummary> value) {
    LineChart chart =
        new LineChart(
            operation + " latency by threads, " + figure + ", in milliseconds",
            Size.SMALL,
            Axis.threads(threads),
            latencyAxis(operation, figure));
    if (figure.equals("mean")) {
      chart.bound("limit", "", averages(Point::meanRoundTripMillis));
    }
    for (Series one : series) {
      Function<Point, @Nullable Double> millis =
          point -> {
            LatencySummary latency = point.latencies().get(operation);
            double ms = latency == null ? 0 : value.applyAsDouble(latency) / 1000;
            return ms > 0 ? Double.valueOf(ms) : null;
          };
      chart.line(one, "", spots(one, millis, v -> Format.ofMillis(v) + " ms"));
    }
    return chart.toSvg();
  }

  /** The three figures of an operation share one scale, so that they can be compared. */
  private Axis latencyAxis(String operation, String figure) {
    DoubleSummaryStatistics millis = new DoubleSummaryStatistics();
    for (Point point : results.points()) {
      LatencySummary latency = point.latencies().get(operation);
      if (latency != null) {
        millis.accept(latency.mean() / 1000);
        millis.accept(latency.p95() / 1000.0);
        millis.accept(latency.p99() / 1000.0);
      }
    }
    averages(Point::meanRoundTripMillis).forEach(spot -> millis.accept(spot.y()));
    return milliseconds(figure + ", ms (log scale)", millis);
  }

  private static Axis milliseconds(String label, DoubleSummaryStatistics millis) {
    double highest = Math.max(millis.getMax(), LEAST_MILLIS);
    return Axis.logarithmic(label, Math.max(millis.getMin(), LEAST_MILLIS), highest);
  }

  /**
   * Percentile curves of an operation by thread count, from the points' HdrHistogram logs, all on
   * one scale; empty if there are no logs.
   */
  SortedMap<Integer, String> percentiles(Path folder, String operation) {
    SortedMap<Integer, List<Curve>> curves = new TreeMap<>();
    DoubleSummaryStatistics millis = new DoubleSummaryStatistics();
    for (Series one : series) {
      for (Point point : one.points(results)) {
        Optional<Histogram> merged =
            point.folder().isEmpty()
                ? Optional.empty()
                : HdrLogs.merged(folder.resolve(point.folder()), operation);
        merged.ifPresent(
            histogram -> {
              curves
                  .computeIfAbsent(point.threads(), t -> new ArrayList<>())
                  .add(new Curve(one, histogram));
              millis.accept(histogram.getMinValue() / 1000.0);
              millis.accept(histogram.getMaxValue() / 1000.0);
            });
      }
    }
    SortedMap<Integer, String> charts = new TreeMap<>();
    curves.forEach(
        (threadCount, some) ->
            charts.put(threadCount, percentiles(operation, threadCount, some, millis)));
    return charts;
  }

  private record Curve(Series series, Histogram histogram) {}

  private static String percentiles(
      String operation, int threadCount, List<Curve> curves, DoubleSummaryStatistics millis) {
    long most = curves.stream().mapToLong(c -> c.histogram().getTotalCount()).max().orElse(1);
    LineChart chart =
        new LineChart(
            operation + " latency by percentile at " + threadCount + " threads, in milliseconds",
            Size.SMALL,
            Axis.percentiles(Math.max(1, Math.log10((double) most))),
            milliseconds("ms (log scale)", millis));
    for (Curve curve : curves) {
      chart.curve(curve.series(), sample(curve.histogram()));
    }
    return chart.toSvg();
  }

  /** A histogram as a curve, evenly spaced on the 1 / (1 − p) scale, to its last operation. */
  static List<Spot> sample(Histogram histogram) {
    double nines = Math.log10(Math.max(2.0, (double) histogram.getTotalCount()));
    int steps = 120;
    List<Spot> spots = new ArrayList<>();
    for (int i = 0; i <= steps; i++) {
      double p = 1 - Math.pow(10, -nines * i / steps);
      double millis = histogram.getValueAtPercentile(p * 100) / 1000.0;
      spots.add(new Spot(p, Math.max(millis, LEAST_MILLIS), ""));
    }
    return spots;
  }

  /**
   * The throughput by threads, with the slowest and the fastest round. A rate of zero has no place
   * on a logarithmic axis.
   */
  private List<Spot> throughputs(Series one) {
    List<Spot> spots = new ArrayList<>();
    for (Point point : one.points(results)) {
      if (point.throughput() > 0) {
        List<Double> rounds = point.rounds();
        String range = rounds.size() > 1 ? " (" + Format.range(rounds) + ")" : "";
        spots.add(
            new Spot(
                point.threads(),
                point.throughput(),
                tip(one, point, Format.rate(point.throughput()) + " ops/s" + range),
                Collections.min(rounds),
                Collections.max(rounds)));
      }
    }
    return spots;
  }

  private static String tip(Series one, Point point, String says) {
    return one.label() + ", " + point.threads() + " threads: " + says;
  }

  private List<Spot> spots(
      Series one, Function<Point, @Nullable Double> value, Function<Double, String> says) {
    List<Spot> spots = new ArrayList<>();
    for (Point point : one.points(results)) {
      Double y = value.apply(point);
      if (y != null) {
        spots.add(new Spot(point.threads(), y, tip(one, point, says.apply(y))));
      }
    }
    return spots;
  }

  private List<Spot> averages(Function<Point, @Nullable Double> value) {
    return averages(value, null);
  }

  /** The mean of a figure over the points at each thread count, of one pool size or of all. */
  private List<Spot> averages(
      Function<Point, @Nullable Double> value, @Nullable Integer connections) {
    List<Spot> spots = new ArrayList<>();
    for (int count : threads) {
      results.points().stream()
          .filter(point -> point.threads() == count)
          .filter(point -> connections == null || point.connections() == connections)
          .map(value)
          .filter(v -> v != null)
          .mapToDouble(v -> v)
          .average()
          .ifPresent(average -> spots.add(new Spot(count, average, "")));
    }
    return spots;
  }

  private int smallestPool() {
    return results.points().stream().mapToInt(Point::connections).min().orElse(0);
  }
}
