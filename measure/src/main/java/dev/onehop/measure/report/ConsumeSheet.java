package dev.onehop.measure.report;

import dev.onehop.measure.report.LineChart.Spot;
import dev.onehop.measure.results.ConsumePoint;
import dev.onehop.measure.results.ConsumeResults;
import dev.onehop.measure.results.HdrLogs;
import dev.onehop.measure.results.LatencySummary;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Stream;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/**
 * The sheet of {@code onehop consume}: the rates of events, and the lags.
 *
 * @param folder the folder of the points' HdrHistogram logs, which may be missing
 */
record ConsumeSheet(ConsumeResults results, Path folder) {

  /**
   * The rows per second and core in Alibaba's paper on Tablestore's Tunnel Service, for rows of the
   * same kind.
   */
  private static final double PAPER = 98_000;

  private static final String DIRECT = "direct";
  private static final List<String> SOURCES = List.of("mongos", DIRECT);
  private static final int WINDOW_SECONDS = 5;

  private static final String NO_LAG =
      "the feature compatibility version is below 6.0, so events have no wallTime; or the servers"
          + " do not use this machine's clock";

  Sheet sheet() {
    Sheet sheet =
        new Sheet(
            "OneHop consume: " + results.topology().name(),
            results,
            "The consumers' HdrHistogram logs and errors are under points/.");
    long negative = results.points().stream().mapToLong(ConsumePoint::negativeLags).sum();
    sheet.notice(
        negative == 0
            ? ""
            : Format.whole(negative)
                + " lags were below zero, which happens only if a clock was set during the run."
                + " The percentiles do not include these lags.");
    sheet.notice(
        results.points().stream().anyMatch(each -> load(each).isSaturated()) ? Load.NOTICE : "");
    drain(sheet);
    lag(sheet, ConsumePoint.LIVE, "While rows are written, the lag of events");
    lag(
        sheet,
        ConsumePoint.IDLE,
        "While one shard is idle and the events of all shards are in one order, the lag");
    sheet.figure(
        Format.whole(results.faults()),
        "rows lost, doubled, out of order, or received without an acknowledged write",
        "of "
            + Format.whole(results.points().stream().mapToLong(ConsumePoint::rows).sum())
            + " written rows");
    sheet.add(section(ConsumePoint.DRAIN, "Drain: rows are read after all were written"));
    sheet.add(section(ConsumePoint.LIVE, "Live: rows are read while rows are written"));
    return sheet.add(
        section(
            ConsumePoint.IDLE,
            "Idle shard: rows are read while rows are written to all shards but one"));
  }

  private Load load(ConsumePoint point) {
    double cores =
        Stream.of(point.cores(), point.routerCores(), point.mongodCores())
            .mapToDouble(used -> used == null ? 0 : used)
            .sum();
    return Load.cores(cores, results.machine());
  }

  private Optional<ConsumePoint> best(String kind, String source, Comparator<ConsumePoint> by) {
    return results.points(kind).stream().filter(each -> each.source().equals(source)).max(by);
  }

  private void drain(Sheet sheet) {
    Comparator<ConsumePoint> fastest = Comparator.comparingDouble(ConsumePoint::rowsPerSecond);
    Optional<ConsumePoint> direct = best(ConsumePoint.DRAIN, DIRECT, fastest);
    Optional<ConsumePoint> mongos = best(ConsumePoint.DRAIN, "mongos", fastest);
    Optional<ConsumePoint> any = direct.or(() -> mongos);
    if (direct.isPresent() && mongos.isPresent()) {
      double ours = direct.get().rowsPerSecond();
      double theirs = mongos.get().rowsPerSecond();
      sheet.say(
          ("From the shards, a backlog is read at %s rows a second in total. This is %s through a"
                  + " mongos (%s rows a second).")
              .formatted(
                  Format.rate(ours), Verdict.faster(ours / theirs, ""), Format.rate(theirs)));
      sheet.figure(
          Format.rate(ours),
          "rows a second of a backlog, from all shards",
          Format.rate(theirs) + " through a mongos");
    } else if (any.isPresent()) {
      sheet.say(
          "A backlog is read at %s rows a second %s."
              .formatted(
                  Format.rate(any.get().rowsPerSecond()),
                  direct.isPresent() ? "from the shards" : "through a mongos"));
    }
    if (any.isPresent() && any.get().rowsPerSecondAndCore() != null) {
      sheet.say(
          ("Per core of the consumer, this is %s rows a second. Alibaba's paper on Tablestore's"
                  + " Tunnel Service reports %s.")
              .formatted(Format.rate(any.get().rowsPerSecondAndCore()), Format.rate(PAPER)));
    }
  }

  /**
   * Compares the lags of the two sources. Of each source, it takes the point with the smallest
   * median lag, with any number of channels.
   */
  private void lag(Sheet sheet, String kind, String what) {
    Comparator<ConsumePoint> shortest =
        Comparator.comparingDouble(
            each -> -behind(each).map(LatencySummary::p50).orElse(Long.MAX_VALUE));
    Optional<ConsumePoint> direct = best(kind, DIRECT, shortest);
    Optional<ConsumePoint> mongos = best(kind, "mongos", shortest);
    Optional<LatencySummary> ours = direct.flatMap(ConsumeSheet::behind);
    Optional<LatencySummary> theirs = mongos.flatMap(ConsumeSheet::behind);
    LatencySummary lag = ours.or(() -> theirs).orElse(null);
    if (lag == null) {
      return;
    }
    String by = ours.isPresent() ? "from each shard" : "through a mongos";
    String beside =
        ours.isPresent() && theirs.isPresent()
            ? ". The p50 is %s that through a mongos (p50: %s ms, p99: %s ms)"
                .formatted(
                    Verdict.shorter((double) lag.p50(), (double) theirs.get().p50()),
                    Format.millis(theirs.get().p50()),
                    Format.millis(theirs.get().p99()))
            : "";
    sheet.say(
        Load.qualified(
            "%s %s is %s ms (p50) and %s ms (p99)%s."
                .formatted(what, by, Format.millis(lag.p50()), Format.millis(lag.p99()), beside),
            Stream.of(direct, mongos).flatMap(Optional::stream).map(this::load)));
    sheet.figure(
        Format.millis(lag.p50()) + " ms",
        "lag (p50) " + by + (kind.equals(ConsumePoint.IDLE) ? ", one shard idle" : ""),
        theirs.map(its -> Format.millis(its.p50()) + " ms through a mongos").orElse(""));
  }

  /**
   * Returns the lag since the commit, or since the start of the write if the lag since the commit
   * is unknown.
   */
  private static Optional<LatencySummary> behind(ConsumePoint point) {
    return Optional.ofNullable(point.lag() == null ? point.sinceIssued() : point.lag());
  }

  private Section section(String kind, String title) {
    Section section = new Section(kind, title);
    List<ConsumePoint> points = results.points(kind);
    if (points.stream().map(ConsumePoint::channels).distinct().count() > 1) {
      section
          .chart(byChannels(points, "rows per second", false, ConsumePoint::rowsPerSecond))
          .chart(
              byChannels(
                  points, "rows per second and core", false, ConsumePoint::rowsPerSecondAndCore))
          .chart(byChannels(points, "ms (lag p50)", true, each -> lagMillis(each, "p50")))
          .chart(byChannels(points, "ms (lag p99)", true, each -> lagMillis(each, "p99")));
    }
    percentiles(section, points);
    return section.chart(overTime(points)).table(table(points));
  }

  private static @Nullable Double lagMillis(ConsumePoint point, String figure) {
    return behind(point).map(lag -> lag.figure(figure) / 1000).orElse(null);
  }

  private static LineChart byChannels(
      List<ConsumePoint> points,
      String unit,
      boolean logarithmic,
      Function<ConsumePoint, @Nullable Double> value) {
    LineChart chart =
        new LineChart(
            points.get(0).kind() + ": " + unit + ", by channels",
            Axis.counts("channels", points.stream().map(ConsumePoint::channels).toList()),
            unit,
            logarithmic);
    return chart.lines(
        bySource(points).filter(each -> value.apply(each) != null).toList(),
        each -> LineStyle.of(each.source()),
        each -> new Spot(each.channels(), Objects.requireNonNull(value.apply(each))));
  }

  /** Returns the points in the order of their sources. */
  private static Stream<ConsumePoint> bySource(List<ConsumePoint> points) {
    return SOURCES.stream()
        .flatMap(source -> points.stream().filter(each -> each.source().equals(source)));
  }

  /** Adds a chart of percentile curves for each number of channels, from the points' logs. */
  private void percentiles(Section section, List<ConsumePoint> points) {
    Map<Integer, Map<LineStyle, Histogram>> curves = new LinkedHashMap<>();
    bySource(points)
        .filter(point -> behind(point).isPresent())
        .forEach(
            point -> {
              String log =
                  point.lag() == null ? ConsumePoint.SINCE_ISSUED_LOG : ConsumePoint.LAG_LOG;
              HdrLogs.merged(folder.resolve(point.folder()), log)
                  .ifPresent(
                      histogram ->
                          curves
                              .computeIfAbsent(point.channels(), count -> new LinkedHashMap<>())
                              .put(LineStyle.of(point.source()), histogram));
            });
    section.alike(
        curves.entrySet().stream()
            .map(
                each ->
                    Percentiles.chart(
                        "Lag by percentile, " + Format.counted(each.getKey(), "channel"),
                        each.getValue()))
            .toList());
  }

  /**
   * Returns a chart of the rates over time at the highest number of channels. The chart is empty if
   * no point has more than one interval.
   */
  private static LineChart overTime(List<ConsumePoint> all) {
    int most = all.stream().mapToInt(ConsumePoint::channels).max().orElse(1);
    int windows = all.stream().mapToInt(each -> each.windows().size()).max().orElse(1);
    LineChart chart =
        new LineChart(
            "Rows per second in intervals of five seconds, " + Format.counted(most, "channel"),
            Axis.seconds(WINDOW_SECONDS * windows),
            "rows per second",
            false);
    for (ConsumePoint point : windows > 1 ? all : List.<ConsumePoint>of()) {
      List<Spot> spots = new ArrayList<>();
      point
          .windows()
          .forEach(rate -> spots.add(new Spot(WINDOW_SECONDS * (spots.size() + 0.5), rate)));
      if (point.channels() == most) {
        chart.line(LineStyle.of(point.source()), spots);
      }
    }
    return chart;
  }

  private Columns<ConsumePoint> table(List<ConsumePoint> points) {
    Columns<ConsumePoint> columns =
        new Columns<>("", points)
            .text("source", each -> each.source() + load(each).mark())
            .text("order", ConsumePoint::order)
            .of("channels", Format::whole, ConsumePoint::channels)
            .of("procs", Format::whole, ConsumePoint::processes)
            .of("rows/s", Format::rate, ConsumePoint::rowsPerSecond)
            .means(
                "rows per second of the measured time. For drain, this is the time from the opening"
                    + " of the stream to the last row")
            .of("ms/1000", Format::ofMillis, ConsumePoint::millisPer1000)
            .means("milliseconds per 1,000 rows")
            .of("cores", Format::hundredths, ConsumePoint::cores)
            .means(
                "processors that the consumers used, without routers and mongods. The columns MiB"
                    + " (memory, RSS) and Mbit/s (events) are also of the consumers only")
            .of("rows/s/core", Format::rate, ConsumePoint::rowsPerSecondAndCore)
            .of("router cores", Format::hundredths, ConsumePoint::routerCores)
            .of("mongod cores", Format::hundredths, ConsumePoint::mongodCores)
            .of("MiB", Format::mebibytes, ConsumePoint::memoryBytes)
            .of("Mbit/s", Format::decimal, ConsumePoint::mbitPerSecond);
    if (points.stream().anyMatch(each -> !each.kind().equals(ConsumePoint.DRAIN))) {
      columns
          .of("written/s", Format::rate, ConsumePoint::writtenPerSecond)
          .latencies("lag", ConsumePoint::lag, "p50", "p90", "p99", "p99.9", "max")
          .means(
              "ms from the commit until the consumer has the row, both by one clock. The commit's"
                  + " time is the event's wallTime, which has whole ms, rounded down; so the lag is"
                  + " up to 1 ms too long")
          .missingIf(NO_LAG)
          .latencies("since issued", ConsumePoint::sinceIssued, "p50", "p99")
          .means("ms from the issue of the bulk write until the consumer has the row");
    }
    return columns
        .of("lost", Format::whole, ConsumePoint::lost)
        .means(
            "acknowledged rows that did not arrive. The columns lost, doubled and out of order"
                + " count all rows of the point, also those outside of the measured time")
        .of("doubled", Format::whole, ConsumePoint::doubled)
        .of("out of order", Format::whole, ConsumePoint::outOfOrder);
  }
}
