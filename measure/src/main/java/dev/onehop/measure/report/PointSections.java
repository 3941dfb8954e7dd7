package dev.onehop.measure.report;

import dev.onehop.measure.report.LineChart.Spot;
import dev.onehop.measure.report.Section.Medium;
import dev.onehop.measure.results.Client;
import dev.onehop.measure.results.Conditions;
import dev.onehop.measure.results.HdrLogs;
import dev.onehop.measure.results.LatencySummary;
import dev.onehop.measure.results.Point;
import dev.onehop.measure.results.Results;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/**
 * The sections about points of closed loops: throughput, latencies, shares of the servers, and
 * conditions.
 */
final class PointSections {

  /**
   * If a bound is higher than all measured values by this factor, a chart leaves it out, because
   * its scale would compress the other lines.
   */
  private static final double OUT_OF_SIGHT = 10;

  /** The legend of a column with {@link Point#errorPercent}. */
  static final String ERROR =
      "half the width of the 95 % confidence interval of ops/s, in % of ops/s; its samples are the"
          + " rates in windows of one second";

  private final Results results;
  private final Path folder;
  private final List<Point> points;
  private final List<Integer> threads;
  private final int usualPool;

  PointSections(Results results, Path folder) {
    this.results = results;
    this.folder = folder;
    this.usualPool =
        results.points().stream().mapToInt(point -> point.client().connections()).min().orElse(0);
    this.threads = results.points().stream().map(Point::threads).distinct().sorted().toList();
    this.points =
        results.points().stream()
            .sorted(
                Comparator.comparingInt(Point::threads)
                    .thenComparingInt(point -> point.client().connections())
                    .thenComparing(Point::client, Client.ORDER))
            .toList();
  }

  void addTo(Sheet sheet) {
    if (points.isEmpty()) {
      sheet.add(RatioSection.of(results.ratios()));
      return;
    }
    Optional<Comparison> comparison = Comparison.of(results);
    List<String> pools = Comparison.pools(results);
    pools.forEach(sheet::say);
    if (pools.isEmpty()) {
      sheet.say(comparison.map(Comparison::sentence).orElseGet(this::fastest));
    }
    comparison.ifPresent(each -> each.addFigures(sheet));
    String experiment = results.run() == null ? null : results.run().load().experiment();
    sheet.add(overview(experiment == null ? "" : experiment + "."));
    sheet.add(RatioSection.of(results.ratios()));
    sheet.add(throughput(experiment == null ? "" : experiment + "."));
    results.operations().forEach(operation -> sheet.add(latency(operation, comparison)));
    sheet.add(shares());
    new ConditionSections(points, results.clients()).addTo(sheet);
  }

  private String fastest() {
    Point point =
        Collections.max(
            points, Comparator.comparingInt(Point::threads).thenComparing(Point::throughput));
    return "At %d threads, %s did %s operations a second."
        .formatted(point.threads(), point.client().label(), Format.rate(point.throughput()));
  }

  /** Begins a table of points with the columns that identify a point. */
  static Columns<Point> head(String caption, List<Point> points, Function<Point, String> name) {
    return new Columns<>(caption, points)
        .text("mode", name)
        .of("conns", Format::whole, point -> point.client().connections())
        .of("threads", Format::whole, Point::threads);
  }

  private String marked(Point point) {
    Conditions conditions = point.conditions();
    return point.client().name()
        + (conditions != null && conditions.isDisturbed() ? " *" : "")
        + Load.of(point, results.machine()).mark();
  }

  private Columns<Point> rates(String caption) {
    return head(caption, points, this::marked)
        .of("ops/s", Format::rate, Point::throughput)
        .text("rounds", point -> Format.range(point.done().rounds(), Format::rate))
        .means(
            "ops/s of the slowest and the fastest round; all other figures are from the median"
                + " round")
        .missingIf("n = 1");
  }

  private static Columns<Point> limits(Columns<Point> columns) {
    return columns
        .of("limit", Format::rate, point -> point.bounds().limit())
        .means(
            "threads / mean round trip of the operations. More operations a second are not"
                + " possible, because each thread waits for a reply before its next operation")
        .missingIf("no round trips between hosts")
        .bars(
            "% of limit",
            point -> Format.percent(point.ofLimit()),
            point -> point.ofLimit() == null ? List.of() : List.of(Math.min(1, point.ofLimit())));
  }

  private Columns<Point> shares(Columns<Point> columns) {
    return columns
        .bars("share %", this::share, point -> shareByShard(point).toList())
        .means(
            "each shard's share of the operations ("
                + String.join(" / ", results.shards())
                + "), by the shards' own counters")
        .of("near owner %", Format::percent, point -> point.evidence().besideOwner())
        .means(
            "share of operations that reached the owning shard from a router on that shard's host,"
                + " in samples taken at the shards");
  }

  private String share(Point point) {
    return point.evidence().share().isEmpty()
        ? Format.NONE
        : shareByShard(point).map(Format::percent).collect(Collectors.joining("/"));
  }

  private Stream<Double> shareByShard(Point point) {
    return results.shards().stream()
        .map(shard -> point.evidence().share().getOrDefault(shard, 0.0));
  }

  /** Returns all points in one table, for a terminal. */
  private Section overview(String experiment) {
    Columns<Point> columns =
        limits(
            rates("Latencies in ms").of("+-%", Format::decimal, Point::errorPercent).means(ERROR));
    for (String operation : results.operations()) {
      columns.latencies(
          operation.toLowerCase(Locale.ROOT),
          point -> point.latencies().byOperation().get(operation),
          "mean",
          "p50",
          "p95",
          "p99");
    }
    columns.of("errors", Format::whole, Point::errors);
    return new Section("points", "Points", Medium.TERMINAL)
        .say(experiment)
        .table(
            shares(columns)
                .of(
                    "cpu us/op",
                    Format::whole,
                    point -> point.cpu() == null ? null : point.cpu().total())
                .means("processor time of client, routers, mongods and links"));
  }

  private Section throughput(String experiment) {
    Section section = new Section("throughput", "Throughput", Medium.PAGE).say(experiment);
    if (threads.size() > 1) {
      section.chart(throughputChart());
    }
    return section.table(
        limits(rates(""))
            .of("pool bound", Format::rate, point -> point.bounds().poolLimit())
            .means(
                "connections / mean round trip: the limit if all operations use the pool of one"
                    + " router")
            .missingIf("no round trips between hosts")
            .of("errors", Format::whole, Point::errors));
  }

  private LineChart throughputChart() {
    LineChart chart =
        chart("Throughput by threads, in operations per second", "operations per second");
    double most = OUT_OF_SIGHT * points.stream().mapToDouble(Point::throughput).max().orElse(1);
    List<Point> usual =
        points.stream().filter(point -> point.client().connections() == usualPool).toList();
    bound(chart, "closed-loop limit", points, point -> point.bounds().limit(), most);
    bound(chart, "pool bound", usual, point -> point.bounds().poolLimit(), most);
    return chart.lines(
        byClient(points),
        this::style,
        point ->
            new Spot(
                point.threads(),
                point.throughput(),
                Collections.min(point.done().rounds()),
                Collections.max(point.done().rounds())));
  }

  private LineChart chart(String caption, String unit) {
    return new LineChart(caption, Axis.counts("threads", threads), unit, true);
  }

  private LineStyle style(Point point) {
    return LineStyle.of(point.client(), usualPool);
  }

  private static List<Point> byClient(List<Point> points) {
    return points.stream()
        .sorted(
            Comparator.<Point>comparingInt(point -> point.client().connections())
                .thenComparing(Point::client, Client.ORDER))
        .toList();
  }

  /**
   * Adds a line for comparison: the mean of a bound over the points at each number of threads. The
   * line is left out if its last value is above {@code most}.
   */
  private void bound(
      LineChart chart,
      String name,
      List<Point> which,
      Function<Point, @Nullable Double> value,
      double most) {
    List<Spot> spots = new ArrayList<>();
    for (int count : threads) {
      which.stream()
          .filter(point -> point.threads() == count && value.apply(point) != null)
          .mapToDouble(value::apply)
          .average()
          .ifPresent(average -> spots.add(new Spot(count, average)));
    }
    if (!spots.isEmpty() && spots.get(spots.size() - 1).y() <= most) {
      chart.bound(name, spots);
    }
  }

  private Section latency(String operation, Optional<Comparison> comparison) {
    String name = operation.toLowerCase(Locale.ROOT);
    Section section =
        new Section("latency-" + name.replaceAll("[^a-z]", "-"), "Latency of " + name, Medium.PAGE);
    comparison.ifPresent(each -> section.say(each.latency(operation)));
    if (threads.size() > 1) {
      section.alike(
          Stream.of("mean", "p95", "p99").map(figure -> latencyChart(operation, figure)).toList());
    }
    section.table(
        head(operation + " latency in ms", with(operation), this::marked)
            .of("count", Format::whole, each -> its(each, operation).figure("n"))
            .latencies(
                "", each -> its(each, operation), "mean", "p50", "p95", "p99", "p99.9", "max"));
    percentiles(section, operation);
    return section;
  }

  /** Returns the points that have executed this kind of operation. */
  private List<Point> with(String operation) {
    return points.stream()
        .filter(point -> point.latencies().byOperation().containsKey(operation))
        .toList();
  }

  private static LatencySummary its(Point point, String operation) {
    return Objects.requireNonNull(point.latencies().byOperation().get(operation));
  }

  private LineChart latencyChart(String operation, String figure) {
    LineChart chart =
        chart(
            operation + " latency by threads, " + figure + ", in milliseconds",
            "ms (" + figure + ")");
    if (figure.equals("mean")) {
      bound(
          chart,
          "mean round trip",
          points,
          point -> point.bounds().meanRoundTripMillis(),
          Double.MAX_VALUE);
    }
    return chart.lines(
        byClient(with(operation)),
        this::style,
        point -> new Spot(point.threads(), its(point, operation).figure(figure) / 1000));
  }

  /** Adds percentile curves by number of threads, from the points' logs. */
  private void percentiles(Section section, String operation) {
    List<LineChart> charts = new ArrayList<>();
    for (int count : threads) {
      Map<LineStyle, Histogram> curves = new LinkedHashMap<>();
      for (Point point : points) {
        if (point.threads() == count && !point.folder().isEmpty()) {
          HdrLogs.merged(folder.resolve(point.folder()), operation)
              .ifPresent(log -> curves.put(style(point), log));
        }
      }
      charts.add(
          Percentiles.chart(
              "%s latency by percentile at %s, in milliseconds"
                  .formatted(operation, Format.counted(count, "thread")),
              curves));
    }
    section.alike(charts);
  }

  private Section shares() {
    return new Section("shards", "Shards and routers", Medium.PAGE)
        .table(shares(head("Operations by shard", points, this::marked)));
  }
}
