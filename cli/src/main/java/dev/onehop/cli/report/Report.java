package dev.onehop.cli.report;

import dev.onehop.cli.Failure;
import dev.onehop.cli.results.LatencySummary;
import dev.onehop.cli.results.MachineFacts;
import dev.onehop.cli.results.Results;
import dev.onehop.cli.results.RunFacts;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
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
    Path file = folder.resolve(NAME);
    try {
      Files.writeString(file, html(results, folder));
    } catch (IOException e) {
      throw Failure.run("cannot write " + file + ": " + Failure.reason(e), e);
    }
    return file;
  }

  private String page() {
    String title = "OneHop bench: " + results.topology().name();
    StringBuilder html = new StringBuilder();
    html.append("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
    html.append("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n");
    html.append("<meta name=\"color-scheme\" content=\"light dark\">\n");
    html.append("<title>").append(Html.escape(title)).append("</title>\n");
    html.append("<style>\n").append(style()).append("</style>\n</head>\n<body>\n<main>\n");
    html.append("<h1>").append(Html.escape(title)).append("</h1>\n");
    html.append("<p class=\"lede\">").append(Html.escape(Headline.of(results))).append("</p>\n");
    notices(html);
    if (!results.points().isEmpty()) {
      throughput(html);
      results.operations().forEach(operation -> latency(html, operation));
      shares(html);
    }
    topology(html);
    facts(html);
    return html.append("</main>\n</body>\n</html>\n").toString();
  }

  private void notices(StringBuilder html) {
    RunFacts run = results.run();
    if (run != null && !run.complete()) {
      notice(
          html,
          "Unfinished run: "
              + results.points().size()
              + " of "
              + run.pointsPlanned()
              + " points"
              + (run.stopped() == null ? "." : " (" + run.stopped() + ")."));
    }
    if (results.errors() > 0) {
      notice(html, Format.count(results.errors()) + " operations failed; see the tables.");
    }
    if (run != null && run.placement() != null && run.placement().misplaced() > 0) {
      notice(html, Format.count(run.placement().misplaced()) + " documents were misplaced.");
    }
    if (results.server().router().isStandIn()) {
      notice(
          html,
          "The routers are OneHop's stand-in, not mongos: no mongos binary was found. It serves one"
              + " request at a time per connection as mongos does, but says nothing of a mongos'"
              + " own speed.");
    }
  }

  private static void notice(StringBuilder html, String text) {
    html.append("<p class=\"notice\">").append(Html.escape(text)).append("</p>\n");
  }

  private void throughput(StringBuilder html) {
    html.append("<section>\n<h2>Throughput</h2>\n").append(legend());
    html.append("<div class=\"pair\"><figure>");
    html.append(charts.throughput());
    html.append("<figcaption>Operations per second (log scale) by threads. ").append(boundsText());
    html.append("</figcaption></figure>\n").append(tables.throughput());
    html.append("</div>\n");
    if (results.detour() != null) {
      String text = DetourText.of(results.detour());
      html.append("<p>No router stands on the client's host: ");
      html.append(Html.escape(text)).append(".</p>\n");
    }
    html.append("</section>\n");
  }

  private static String boundsText() {
    return "<b>limit</b>: threads / mean round trip, what a closed loop can do at most;"
        + " <b>pool bound</b>: connections / mean round trip, where one router's pool carries"
        + " every operation.";
  }

  private String legend() {
    StringBuilder html = new StringBuilder("<ul class=\"legend\">");
    for (Series one : charts.series()) {
      html.append("<li><svg viewBox=\"-16 -8 32 16\" aria-hidden=\"true\"><g class=\"series ");
      html.append(one.cssClass()).append("\"><path class=\"line\" d=\"M-15 0H15\"/>");
      html.append("<path class=\"mark\" d=\"").append(one.marker()).append("\"/></g></svg>");
      html.append(Html.escape(one.label())).append("</li>");
    }
    legendBound(html, "limit", "closed-loop limit");
    legendBound(html, "pool", "pool bound");
    return html.append("</ul>\n").toString();
  }

  private static void legendBound(StringBuilder html, String cssClass, String label) {
    html.append("<li><svg viewBox=\"-16 -8 32 16\" aria-hidden=\"true\"><g class=\"bound ");
    html.append(cssClass).append("\"><path class=\"line\" d=\"M-15 0H15\"/></g></svg>");
    html.append(label).append("</li>");
  }

  private void latency(StringBuilder html, String operation) {
    String name = operation.toLowerCase(Locale.ROOT);
    html.append("<section>\n<h2>Latency of ").append(Html.escape(name)).append("</h2>\n");
    html.append(legend()).append("<div class=\"grid\">\n");
    latencyChart(html, operation, "mean", LatencySummary::mean, "; the limit is the round trip");
    latencyChart(html, operation, "p95", LatencySummary::p95, "");
    latencyChart(html, operation, "p99", LatencySummary::p99, "");
    html.append("</div>\n").append(tables.latency(operation));
    percentiles(html, operation, name);
    html.append("</section>\n");
  }

  private void latencyChart(
      StringBuilder html,
      String operation,
      String figure,
      ToDoubleFunction<LatencySummary> value,
      String remark) {
    // The three figures of an operation share one scale, so that they can be compared.
    double highest =
        results.points().stream()
            .flatMap(point -> Optional.ofNullable(point.latencies().get(operation)).stream())
            .mapToDouble(latency -> (double) latency.p99())
            .max()
            .orElse(0);
    html.append("<figure>").append(charts.latency(operation, figure, value, highest / 1000));
    html.append("<figcaption>").append(figure).append(", ms by threads").append(remark);
    html.append("</figcaption></figure>\n");
  }

  private void percentiles(StringBuilder html, String operation, String name) {
    StringBuilder curves = new StringBuilder();
    for (int threads : charts.threads()) {
      charts
          .percentiles(folder, operation, threads)
          .ifPresent(
              svg ->
                  curves
                      .append("<figure>")
                      .append(svg)
                      .append("<figcaption>ms by percentile, threads: ")
                      .append(threads)
                      .append("</figcaption></figure>\n"));
    }
    if (!curves.isEmpty()) {
      html.append("<h3>Percentile curves of ").append(Html.escape(name)).append("</h3>\n");
      html.append("<p>From the points' HdrHistogram logs; the table above has the figures.</p>\n");
      html.append("<div class=\"grid\">\n").append(curves).append("</div>\n");
    }
  }

  private void shares(StringBuilder html) {
    html.append("<section>\n<h2>Who served</h2>\n<p>Shares by the servers' own counters. ");
    html.append("<b>Beside owner</b>: operations that reached their shard from a router on the ");
    html.append("shard's host, sampled on the shards.</p>\n<ul class=\"legend\">");
    List<String> shards = results.shards();
    for (int i = 0; i < shards.size(); i++) {
      html.append("<li><i class=\"swatch s").append(i % 4).append("\"></i>");
      html.append(Html.escape(shards.get(i))).append("</li>");
    }
    html.append("</ul>\n").append(tables.shares()).append("</section>\n");
  }

  private void topology(StringBuilder html) {
    html.append("<section>\n<h2>Topology ").append(Html.escape(results.topology().name()));
    html.append("</h2>\n<figure>");
    html.append(TopologyMap.toSvg(results.topology(), true));
    html.append(TopologyMap.toSvg(results.topology(), false));
    html.append("<figcaption>Regions with their hosts, and the round trips between them.");
    html.append("</figcaption></figure>\n").append(tables.hosts()).append("</section>\n");
  }

  private void facts(StringBuilder html) {
    html.append("<section>\n<h2>Servers and machine</h2>\n");
    Map<String, String> facts = new LinkedHashMap<>();
    facts.put("mongod", results.server().mongod());
    String fcv = results.server().featureCompatibilityVersion();
    if (fcv != null && !fcv.isEmpty()) {
      facts.put("feature compatibility", fcv);
    }
    facts.put("routers", ResultsTable.routerText(results));
    MachineFacts machine = results.machine();
    if (machine != null) {
      facts.put("processor", machine.cpu() + ", " + machine.cores() + " cores");
      facts.put("memory", Format.count(machine.memoryMebibytes()) + " MiB");
      facts.put("system", machine.os());
      facts.put("Java", machine.java());
      facts.put("MongoDB Java driver", machine.mongoDriver());
      facts.put("YCSB", machine.ycsb());
      facts.put(
          "OneHop",
          machine.onehop() + (machine.revision().isEmpty() ? "" : " (" + machine.revision() + ")"));
    }
    RunFacts run = results.run();
    if (run != null) {
      facts.put("started", run.started());
      facts.put("workload", run.workload());
      facts.put("documents", Format.count(run.records()));
      if (!run.properties().isEmpty()) {
        facts.put("properties", run.properties().toString());
      }
    }
    html.append(Tables.facts(facts)).append("</section>\n");
    if (run != null) {
      html.append("<section>\n<h2>How to reproduce</h2>\n<pre>");
      html.append(Html.escape(run.command())).append("</pre>\n<p>Every point's YCSB output and ");
      html.append("HdrHistogram logs lie under <code>points/</code> beside this page.</p>\n");
      html.append("</section>\n");
    }
  }

  private static String style() {
    try (InputStream css = Report.class.getResourceAsStream("report.css")) {
      if (css == null) {
        throw new IllegalStateException("report.css is missing from the class path");
      }
      return new String(css.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
