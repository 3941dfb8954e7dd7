package dev.onehop.measure.report;

import dev.onehop.measure.report.LineChart.Size;
import dev.onehop.measure.results.LatencySummary;
import dev.onehop.measure.results.Point;
import dev.onehop.measure.results.Results;
import dev.onehop.measure.results.RunFacts;
import dev.onehop.measure.results.ScenarioEntry;
import dev.onehop.measure.results.Timeline;
import dev.onehop.resync.Failure;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.ToDoubleFunction;

/**
 * {@code report.html}: one page without scripts or anything from a network. Charts are SVG that
 * follows the page's light or dark colours and prints as it shows.
 */
public final class Report {

  /** The report's name in a results folder. */
  public static final String NAME = "report.html";

  private final Results results;
  private final Path folder;
  private final Charts charts;
  private final Tables tables;

  private Report(Results results, Path folder) {
    this.results = results;
    this.folder = folder;
    this.charts = new Charts(results);
    this.tables = new Tables(results);
  }

  /**
   * The report as HTML.
   *
   * @param folder where the points' HdrHistogram logs are, if they are still there
   */
  public static String html(Results results, Path folder) {
    return new Report(results, folder).page();
  }

  /**
   * Writes {@code folder/report.html}.
   *
   * @throws Failure if it can't be written
   */
  public static Path write(Path folder, Results results) {
    return Page.write(folder.resolve(NAME), html(results, folder));
  }

  private String page() {
    String title = "OneHop bench: " + results.topology().name();
    StringBuilder html = Page.open(title);
    notices(html);
    new Summary(results).appendTo(html);
    contents(html);
    results.timelines().forEach(each -> new ScenarioSection(each, results).appendTo(html));
    results.zones().forEach(zones -> new ZonesSection(zones).appendTo(html));
    results.fleets().forEach(fleet -> new FleetSection(fleet).appendTo(html));
    RateSection rates = new RateSection(results);
    if (!rates.isEmpty()) {
      rates.appendTo(html);
    }
    ratios(html);
    if (!results.points().isEmpty()) {
      throughput(html);
      results.operations().forEach(operation -> latency(html, operation));
      shares(html);
      processorTime(html);
      conditions(html);
      if (!results.clients().isEmpty()) {
        new ClientsSection(results).appendTo(html);
      }
    }
    Page page = new Page(results);
    page.topology(html);
    page.facts(html);
    page.reproduce(
        html, "Every point's YCSB output and HdrHistogram logs lie under <code>points/</code>");
    return Page.close(html);
  }

  private void ratios(StringBuilder html) {
    List<List<String>> rows = RatioTable.rows(results);
    if (rows.isEmpty()) {
      return;
    }
    html.append("<section id=\"ratios\">\n<h2>Beside the best official client</h2>\n");
    StringBuilder table =
        Tables.open("Ratios to the best official client", rows.get(0).toArray(String[]::new));
    for (List<String> row : rows.subList(1, rows.size())) {
      Tables.row(table, row.get(0), row.subList(1, row.size()).toArray(String[]::new));
    }
    html.append(Tables.close(table)).append("<p>").append(Html.escape(RatioTable.NOTE));
    html.append("</p>\n</section>\n");
  }

  private void notices(StringBuilder html) {
    RunFacts run = results.run();
    if (run != null && !run.complete()) {
      Page.notice(
          html,
          "Unfinished run: "
              + finished()
              + " of "
              + run.pointsPlanned()
              + (results.timelines().isEmpty() && results.zones().isEmpty()
                  ? " points"
                  : " clients")
              + (run.stopped() == null ? "." : " (" + run.stopped() + ")."));
    }
    if (results.isDisturbed()) {
      Page.notice(
          html,
          "Others on the host took more than 1 % of the processors' time (steal) while points"
              + " marked with * were measured.");
    }
    if (results.errors() > 0) {
      Page.notice(html, Format.count(results.errors()) + " operations failed; see the tables.");
    }
    if (run != null && run.placement() != null && run.placement().misplaced() > 0) {
      Page.notice(html, Format.count(run.placement().misplaced()) + " documents were misplaced.");
    }
    if (run != null) {
      run.missing().forEach(what -> Page.notice(html, "Not known: " + what + "."));
    }
  }

  private int finished() {
    return results.points().size()
        + results.entries(ScenarioEntry.RATE).size()
        + results.timelines().stream().mapToInt(scenario -> scenario.lines().size()).sum()
        + results.zones().stream().mapToInt(zones -> zones.lines().size()).sum();
  }

  private void contents(StringBuilder html) {
    html.append("<nav aria-label=\"Sections\">");
    for (Timeline scenario : results.timelines()) {
      html.append("<a href=\"#").append(Html.escape(scenario.scenario())).append("\">");
      html.append(Html.escape(scenario.scenario())).append("</a>");
    }
    if (!results.fleets().isEmpty()) {
      html.append("<a href=\"#fleet\">fleet</a>");
    }
    if (!results.zones().isEmpty()) {
      html.append("<a href=\"#zones\">zones</a>");
    }
    if (!new RateSection(results).isEmpty()) {
      html.append("<a href=\"#rates\">Fixed rates</a>");
    }
    if (!results.ratios().isEmpty()) {
      html.append("<a href=\"#ratios\">Ratios</a>");
    }
    if (!results.points().isEmpty()) {
      html.append("<a href=\"#throughput\">Throughput</a>");
      for (String operation : results.operations()) {
        html.append("<a href=\"#").append(id(operation)).append("\">Latency of ");
        html.append(Html.escape(operation.toLowerCase(Locale.ROOT))).append("</a>");
      }
      html.append("<a href=\"#shards\">Who served</a>");
    }
    html.append("<a href=\"#topology\">Topology</a><a href=\"#facts\">Servers and machine</a>");
    if (results.run() != null) {
      html.append("<a href=\"#reproduce\">How to reproduce</a>");
    }
    html.append("</nav>\n");
  }

  private static String id(String operation) {
    return "latency-" + operation.toLowerCase(Locale.ROOT).replaceAll("[^a-z]", "-");
  }

  private void throughput(StringBuilder html) {
    html.append("<section id=\"throughput\">\n<h2>Throughput</h2>\n");
    if (results.run() != null && results.run().experiment() != null) {
      html.append("<p>").append(Html.escape(results.run().experiment())).append(".</p>\n");
    }
    if (hasSeveralThreadCounts()) {
      html.append("<div class=\"narrow\">").append(legend(true)).append("</div>\n<figure>");
      html.append(charts.throughput(Size.WIDE)).append(charts.throughput(Size.NARROW));
      html.append("<figcaption>").append(boundsText()).append("</figcaption></figure>\n");
    } else {
      html.append("<p>").append(boundsText()).append("</p>\n");
    }
    html.append(tables.throughput()).append("</section>\n");
  }

  /** A line needs two of them. */
  private boolean hasSeveralThreadCounts() {
    return results.points().stream().map(Point::threads).distinct().count() > 1;
  }

  private String boundsText() {
    String text =
        "<b>limit</b>: threads / mean round trip, what a closed loop can do at most;"
            + " <b>pool bound</b>: connections / mean round trip, where one router's pool carries"
            + " every operation. A bound of more than ten times what was reached is in the table only.";
    return ResultsTable.hasRounds(results)
        ? text
            + " <b>rounds</b>: the slowest and the fastest, the upright marks; everything else is of"
            + " the median one."
        : text;
  }

  private String legend(boolean ofThroughput) {
    StringBuilder html = new StringBuilder("<ul class=\"legend\">");
    charts.series().forEach(one -> one.appendTo(html));
    if (ofThroughput) {
      legendBound(html, "limit", "closed-loop limit");
      legendBound(html, "pool", "pool bound");
    } else {
      legendBound(html, "limit", "mean round trip");
    }
    return html.append("</ul>\n").toString();
  }

  private static void legendBound(StringBuilder html, String cssClass, String label) {
    html.append("<li><svg viewBox=\"-16 -8 32 16\" aria-hidden=\"true\"><g class=\"bound ");
    html.append(cssClass).append("\"><path class=\"line\" d=\"M-15 0H15\"/></g></svg>");
    html.append(label).append("</li>");
  }

  private void latency(StringBuilder html, String operation) {
    String name = operation.toLowerCase(Locale.ROOT);
    html.append("<section id=\"").append(id(operation)).append("\">\n<h2>Latency of ");
    html.append(Html.escape(name)).append("</h2>\n");
    html.append(legend(false));
    if (hasSeveralThreadCounts()) {
      html.append("<div class=\"grid\">\n");
      latencyChart(
          html, operation, "mean", LatencySummary::mean, "Mean; its limit: the round trip");
      latencyChart(html, operation, "p95", LatencySummary::p95, "95th percentile");
      latencyChart(html, operation, "p99", LatencySummary::p99, "99th percentile");
      html.append("</div>\n");
    }
    html.append(tables.latency(operation));
    percentiles(html, operation, name);
    html.append("</section>\n");
  }

  private void latencyChart(
      StringBuilder html,
      String operation,
      String figure,
      ToDoubleFunction<LatencySummary> value,
      String caption) {
    html.append("<figure>").append(charts.latency(operation, figure, value));
    html.append("<figcaption>").append(caption).append("</figcaption></figure>\n");
  }

  private void percentiles(StringBuilder html, String operation, String name) {
    Map<Integer, String> curves = charts.percentiles(folder, operation);
    if (curves.isEmpty()) {
      return;
    }
    html.append("<h3>Percentile curves of ").append(Html.escape(name)).append("</h3>\n");
    html.append("<p>From the points' HdrHistogram logs. Each further nine has the same room; a ");
    html.append("curve ends at its slowest operation.</p>\n<div class=\"grid\">\n");
    curves.forEach(
        (threads, svg) -> {
          html.append("<figure>").append(svg).append("<figcaption>").append(threads);
          html.append(threads == 1 ? " thread" : " threads").append("</figcaption></figure>\n");
        });
    html.append("</div>\n");
  }

  private void shares(StringBuilder html) {
    html.append(
        "<section id=\"shards\">\n<h2>Who served</h2>\n<p>Shares by the servers' own counters. ");
    html.append("<b>Beside owner</b>: operations that reached their shard from a router on the ");
    html.append("shard's host, sampled on the shards.</p>\n<ul class=\"legend\">");
    List<String> shards = results.shards();
    for (int i = 0; i < shards.size(); i++) {
      html.append("<li><i class=\"swatch s").append(i % Tables.SHARD_SHADES).append("\"></i>");
      html.append(Html.escape(shards.get(i))).append("</li>");
    }
    html.append("</ul>\n").append(tables.shares()).append("</section>\n");
  }

  private void processorTime(StringBuilder html) {
    if (results.points().stream().allMatch(point -> point.cpu() == null)) {
      return;
    }
    html.append("<section id=\"cpu\">\n<h2>Processor time</h2>\n<p>User and system time of the ");
    html.append("processes while the point was measured. <b>Links</b>: what makes the delays ");
    html.append("between regions.</p>\n").append(tables.cpu()).append("</section>\n");
  }

  private void conditions(StringBuilder html) {
    if (results.points().stream().allMatch(point -> point.conditions() == null)) {
      return;
    }
    html.append("<section id=\"conditions\">\n<h2>How the points were measured</h2>\n<p>");
    html.append("<b>ops/s to</b>: half the 95 % interval, by the means of windows of a second. ");
    html.append("<b>Warm-up</b>: until the rate is steady, if that was judged. <b>Steal</b>: ");
    html.append("processor time that the host gave to others. <b>Run queue</b>: threads of the ");
    html.append(
        "whole machine that ran or waited. <b>Bytes</b>: of operations and answers, on the ");
    html.append("links.</p>\n").append(tables.conditions()).append("</section>\n");
  }
}
