package dev.onehop.cli.report;

import dev.onehop.cli.report.LineChart.Spot;
import dev.onehop.cli.results.HdrLogs;
import dev.onehop.cli.results.LatencySummary;
import dev.onehop.cli.results.Point;
import dev.onehop.cli.results.Results;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.DoubleSummaryStatistics;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/** The report's charts: which numbers go on which axes. */
final class Charts {

  private static final int BIG_WIDTH = 480;
  private static final int BIG_HEIGHT = 310;
  private static final int SMALL_WIDTH = 380;
  private static final int SMALL_HEIGHT = 270;

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
  String throughput() {
    DoubleSummaryStatistics rates = new DoubleSummaryStatistics();
    results.points().stream().mapToDouble(Point::throughput).filter(v -> v > 0).forEach(rates);
    averages(Point::limit).forEach(spot -> rates.accept(spot.y()));
    if (rates.getCount() == 0) {
      rates.accept(1);
    }
    LineChart chart =
        new LineChart(
            "Throughput by threads, in operations per second",
            BIG_WIDTH,
            BIG_HEIGHT,
            Axis.threads(threads),
            Axis.logarithmic("ops/s", rates.getMin(), rates.getMax()));
    chart.bound("pool", averages(Point::poolLimit, smallestPool()));
    chart.bound("limit", averages(Point::limit));
    for (Series one : series) {
      chart.line(one, spots(one, Charts::positiveThroughput, v -> Format.rate(v) + " ops/s"));
    }
    return chart.toSvg();
  }

  /** One latency figure of an operation by threads, with the mean round trip as its bound. */
  String latency(
      String operation, String figure, ToDoubleFunction<LatencySummary> value, double highest) {
    LineChart chart =
        new LineChart(
            operation + " latency by threads, " + figure + ", in milliseconds",
            SMALL_WIDTH,
            SMALL_HEIGHT,
            Axis.threads(threads),
            Axis.fromZero("ms", highest));
    if (figure.equals("mean")) {
      chart.bound("limit", averages(Point::meanRoundTripMillis));
    }
    for (Series one : series) {
      Function<Point, @Nullable Double> millis =
          point -> {
            LatencySummary latency = point.latencies().get(operation);
            return latency == null ? null : value.applyAsDouble(latency) / 1000;
          };
      chart.line(one, spots(one, millis, v -> figure + " " + Format.ofMillis(v) + " ms"));
    }
    return chart.toSvg();
  }

  /**
   * Percentile curves of an operation at a thread count, from the points' HdrHistogram logs; empty
   * if there are no logs.
   */
  Optional<String> percentiles(Path folder, String operation, int threadCount) {
    record Curve(Series series, Histogram histogram) {}
    List<Curve> curves = new ArrayList<>();
    for (Series one : series) {
      for (Point point : one.points(results)) {
        if (point.threads() == threadCount && !point.folder().isEmpty()) {
          HdrLogs.merged(folder.resolve(point.folder()), operation)
              .ifPresent(histogram -> curves.add(new Curve(one, histogram)));
        }
      }
    }
    if (curves.isEmpty()) {
      return Optional.empty();
    }
    long most = curves.stream().mapToLong(c -> c.histogram().getTotalCount()).max().orElse(1);
    long slowest = curves.stream().mapToLong(c -> c.histogram().getMaxValue()).max().orElse(1);
    double nines = Math.max(1, Math.log10((double) most));
    LineChart chart =
        new LineChart(
            operation + " latency by percentile at " + threadCount + " threads, in milliseconds",
            SMALL_WIDTH,
            SMALL_HEIGHT,
            Axis.percentiles(nines),
            Axis.fromZero("ms", slowest / 1000.0));
    for (Curve curve : curves) {
      chart.curve(curve.series(), sample(curve.histogram()));
    }
    return Optional.of(chart.toSvg());
  }

  /** A histogram as a curve, evenly spaced on the 1 / (1 − p) scale, to its last operation. */
  static List<Spot> sample(Histogram histogram) {
    double nines = Math.log10(Math.max(2.0, (double) histogram.getTotalCount()));
    int steps = 120;
    List<Spot> spots = new ArrayList<>();
    for (int i = 0; i <= steps; i++) {
      double p = 1 - Math.pow(10, -nines * i / steps);
      spots.add(new Spot(p, histogram.getValueAtPercentile(p * 100) / 1000.0, ""));
    }
    return spots;
  }

  /** A rate of zero has no place on a logarithmic axis. */
  private static @Nullable Double positiveThroughput(Point point) {
    return point.throughput() > 0 ? point.throughput() : null;
  }

  private List<Spot> spots(
      Series one, Function<Point, @Nullable Double> value, Function<Double, String> says) {
    List<Spot> spots = new ArrayList<>();
    for (Point point : one.points(results)) {
      Double y = value.apply(point);
      if (y != null) {
        spots.add(
            new Spot(
                point.threads(),
                y,
                one.label() + ", " + point.threads() + " threads: " + says.apply(y)));
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
