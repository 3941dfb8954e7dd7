package dev.onehop.measure.report;

import dev.onehop.measure.report.LineChart.Size;
import dev.onehop.measure.report.LineChart.Spot;
import dev.onehop.measure.results.ConsumePoint;
import dev.onehop.measure.results.ConsumeResults;
import dev.onehop.measure.results.HdrLogs;
import dev.onehop.measure.results.LatencySummary;
import dev.onehop.measure.results.RunFacts;
import dev.onehop.resync.Failure;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.DoubleSummaryStatistics;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.ToLongFunction;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/** {@code report.html} of a run of {@code onehop consume}, in the form of the bench's. */
public final class ConsumeReport {

  private static final double LEAST_MILLIS = 0.01;

  private final ConsumeResults results;
  private final Path folder;

  private ConsumeReport(ConsumeResults results, Path folder) {
    this.results = results;
    this.folder = folder;
  }

  /**
   * The report as HTML.
   *
   * @param folder where the points' HdrHistogram logs are, if they are still there
   */
  public static String html(ConsumeResults results, Path folder) {
    return new ConsumeReport(results, folder).page();
  }

  /**
   * Writes {@code folder/report.html}.
   *
   * @throws Failure if it can't be written
   */
  public static Path write(Path folder, ConsumeResults results) {
    return Page.write(folder.resolve(Report.NAME), html(results, folder));
  }

  private String page() {
    StringBuilder html = Page.open("OneHop consume: " + results.topology().name());
    notices(html);
    List<String> sentences = ConsumeTable.sentences(results);
    for (int i = 0; i < sentences.size(); i++) {
      html.append(i == 0 ? "<p class=\"lede\">" : "<p>");
      html.append(Html.escape(sentences.get(i))).append("</p>\n");
    }
    html.append("<nav aria-label=\"Sections\">");
    ConsumeTable.titles()
        .forEach(
            (kind, title) -> {
              if (!results.points(kind).isEmpty()) {
                html.append("<a href=\"#").append(kind).append("\">");
                html.append(Html.escape(title.substring(0, title.indexOf(':')))).append("</a>");
              }
            });
    html.append("<a href=\"#topology\">Topology</a><a href=\"#facts\">Servers and machine</a>");
    html.append("<a href=\"#reproduce\">How to reproduce</a></nav>\n");
    ConsumeTable.titles().forEach((kind, title) -> section(html, kind, title));
    html.append("<p>").append(Html.escape(ConsumeTable.notes())).append("</p>\n");
    Page page = new Page(results.surroundings());
    page.topology(html);
    page.facts(html);
    page.reproduce(
        html, "The consumers' HdrHistogram logs and complaints lie under <code>points/</code>");
    return Page.close(html);
  }

  private void notices(StringBuilder html) {
    RunFacts run = results.run();
    if (!run.complete()) {
      Page.notice(
          html,
          "Unfinished run: "
              + results.points().size()
              + " of "
              + run.pointsPlanned()
              + " points"
              + (run.stopped() == null ? "." : " (" + run.stopped() + ")."));
    }
    if (results.faults() > 0) {
      Page.notice(
          html,
          Format.count(results.faults())
              + " rows were lost, doubled, out of order or never written; see the tables.");
    }
    long negative = results.points().stream().mapToLong(ConsumePoint::negativeLags).sum();
    if (negative > 0) {
      Page.notice(
          html,
          Format.count(negative)
              + " lags were below zero, as if a clock had been set, and are not in the percentiles.");
    }
    if (results.server().router().isStandIn()) {
      Page.notice(
          html,
          "The routers are OneHop's stand-in, not mongos: its change streams say little of a"
              + " mongos' own speed and lag.");
    }
    run.missing().forEach(what -> Page.notice(html, "Not known: " + what + "."));
  }

  private void section(StringBuilder html, String kind, String title) {
    List<ConsumePoint> points = results.points(kind);
    if (points.isEmpty()) {
      return;
    }
    html.append("<section id=\"").append(kind).append("\">\n<h2>").append(Html.escape(title));
    html.append("</h2>\n<ul class=\"legend\">");
    looks(points).forEach(look -> look.appendTo(html));
    html.append("</ul>\n<div class=\"grid\">\n");
    boolean several = points.stream().map(ConsumePoint::channels).distinct().count() > 1;
    if (several) {
      figure(html, rates(points, kind), "Rows per second by channels");
      figure(html, perCore(points, kind), "Rows per second and core of the consumers, by channels");
    }
    if (!kind.equals(ConsumePoint.DRAIN)) {
      if (several) {
        figure(html, lags(points, kind, "p50", LatencySummary::p50), "Lag by channels, p50");
        figure(html, lags(points, kind, "p99", LatencySummary::p99), "Lag by channels, p99");
      }
      percentiles(points, kind)
          .forEach(
              (channels, svg) -> figure(html, svg, "Lag by percentile, " + channels(channels)));
      figure(
          html,
          overTime(points, kind),
          "Rows per second of each five seconds, " + channels(most(points)));
    }
    html.append("</div>\n");
    List<List<String>> rows = ConsumeTable.tables(results).get(title);
    if (rows != null) {
      html.append(Tables.of(title, rows));
    }
    html.append("</section>\n");
  }

  private static String channels(int count) {
    return count + (count == 1 ? " channel" : " channels");
  }

  private static int most(List<ConsumePoint> points) {
    return points.stream().mapToInt(ConsumePoint::channels).max().orElse(1);
  }

  private static void figure(StringBuilder html, String svg, String caption) {
    if (!svg.isEmpty()) {
      html.append("<figure>").append(svg).append("<figcaption>").append(caption);
      html.append("</figcaption></figure>\n");
    }
  }

  private static List<SourceLook> looks(List<ConsumePoint> points) {
    return List.of(SourceLook.values()).stream()
        .filter(look -> points.stream().anyMatch(point -> look.is(point.source())))
        .toList();
  }

  private static String rates(List<ConsumePoint> points, String kind) {
    return byChannels(
        points,
        kind + ": rows per second by channels",
        "rows per second",
        ConsumePoint::rowsPerSecond,
        value -> Format.rate(value) + " rows/s",
        false);
  }

  private static String perCore(List<ConsumePoint> points, String kind) {
    return byChannels(
        points,
        kind + ": rows per second and core by channels",
        "rows per second and core",
        ConsumePoint::rowsPerSecondAndCore,
        value -> Format.rate(value) + " rows/s/core",
        false);
  }

  private static String lags(
      List<ConsumePoint> points,
      String kind,
      String figure,
      ToLongFunction<LatencySummary> percentile) {
    return byChannels(
        points,
        kind + ": lag by channels, " + figure + ", in milliseconds",
        figure + ", ms (log scale)",
        point -> {
          LatencySummary lag = point.lag() == null ? point.sinceIssued() : point.lag();
          return lag == null
              ? null
              : Double.valueOf(Math.max(LEAST_MILLIS, percentile.applyAsLong(lag) / 1000.0));
        },
        value -> Format.ofMillis(value) + " ms",
        true);
  }

  private static String byChannels(
      List<ConsumePoint> points,
      String title,
      String label,
      Function<ConsumePoint, @Nullable Double> value,
      Function<Double, String> says,
      boolean logarithmic) {
    DoubleSummaryStatistics values = new DoubleSummaryStatistics();
    for (ConsumePoint point : points) {
      Double its = value.apply(point);
      if (its != null) {
        values.accept(its);
      }
    }
    if (values.getCount() == 0) {
      return "";
    }
    LineChart chart =
        new LineChart(
            title,
            Size.SMALL,
            Axis.counts("channels", points.stream().map(ConsumePoint::channels).toList()),
            logarithmic
                ? Axis.logarithmic(label, values.getMin(), values.getMax())
                : Axis.fromZero(label, values.getMax()));
    for (SourceLook look : looks(points)) {
      List<Spot> spots = new ArrayList<>();
      for (ConsumePoint point : points) {
        Double its = look.is(point.source()) ? value.apply(point) : null;
        if (its != null) {
          String where = look.label() + ", " + channels(point.channels()) + ": ";
          spots.add(new Spot(point.channels(), its, where + says.apply(its)));
        }
      }
      chart.line(look, "", spots);
    }
    return chart.toSvg();
  }

  /** Curves by channels, from the points' HdrHistogram logs, all on one scale. */
  private Map<Integer, String> percentiles(List<ConsumePoint> points, String kind) {
    Map<Integer, Map<SourceLook, Histogram>> curves = new LinkedHashMap<>();
    DoubleSummaryStatistics millis = new DoubleSummaryStatistics();
    for (SourceLook look : looks(points)) {
      for (ConsumePoint point : points) {
        if (look.is(point.source())) {
          String log = point.lag() == null ? ConsumePoint.SINCE_ISSUED_LOG : ConsumePoint.LAG_LOG;
          HdrLogs.merged(folder.resolve(point.folder()), log)
              .ifPresent(
                  histogram -> {
                    curves
                        .computeIfAbsent(point.channels(), count -> new LinkedHashMap<>())
                        .put(look, histogram);
                    millis.accept(Math.max(LEAST_MILLIS, histogram.getMinValue() / 1000.0));
                    millis.accept(Math.max(LEAST_MILLIS, histogram.getMaxValue() / 1000.0));
                  });
        }
      }
    }
    Map<Integer, String> charts = new LinkedHashMap<>();
    curves.forEach((count, some) -> charts.put(count, percentiles(kind, count, some, millis)));
    return charts;
  }

  private static String percentiles(
      String kind,
      int channels,
      Map<SourceLook, Histogram> curves,
      DoubleSummaryStatistics millis) {
    long most = curves.values().stream().mapToLong(Histogram::getTotalCount).max().orElse(1);
    LineChart chart =
        new LineChart(
            kind + ": lag by percentile, " + channels(channels) + ", in milliseconds",
            Size.SMALL,
            Axis.percentiles(Math.max(1, Math.log10((double) most))),
            Axis.logarithmic("ms (log scale)", millis.getMin(), millis.getMax()));
    curves.forEach((look, histogram) -> chart.curve(look, Charts.sample(histogram)));
    return chart.toSvg();
  }

  /** Of the most channels; nothing where there is a single window. */
  private static String overTime(List<ConsumePoint> all, String kind) {
    List<ConsumePoint> points =
        all.stream()
            .filter(point -> point.channels() == most(all) && point.windows().size() > 1)
            .toList();
    if (points.isEmpty()) {
      return "";
    }
    int seconds = 5 * points.stream().mapToInt(point -> point.windows().size()).max().orElse(1);
    double highest =
        points.stream()
            .flatMap(point -> point.windows().stream())
            .mapToDouble(rate -> rate)
            .max()
            .orElse(1);
    LineChart chart =
        new LineChart(
            kind + ": rows per second of each five seconds",
            Size.SMALL,
            Axis.seconds(seconds),
            Axis.fromZero("rows per second", highest));
    for (SourceLook look : looks(points)) {
      for (ConsumePoint point : points) {
        if (look.is(point.source())) {
          List<Spot> spots = new ArrayList<>();
          for (int i = 0; i < point.windows().size(); i++) {
            double rate = point.windows().get(i);
            spots.add(new Spot(5 * i + 2.5, rate, look.label() + ": " + Format.rate(rate)));
          }
          chart.line(look, "", spots);
        }
      }
    }
    return chart.toSvg();
  }
}
