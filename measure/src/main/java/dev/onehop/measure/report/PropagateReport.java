package dev.onehop.measure.report;

import dev.onehop.measure.report.LineChart.Size;
import dev.onehop.measure.report.LineChart.Spot;
import dev.onehop.measure.results.LatencySummary;
import dev.onehop.measure.results.PropagateMeasurement;
import dev.onehop.measure.results.PropagateResults;
import dev.onehop.measure.results.RunFacts;
import dev.onehop.resync.Failure;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.DoubleSummaryStatistics;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToIntFunction;

/** {@code report.html} of a run of {@code onehop propagate}, in the form of the bench's. */
public final class PropagateReport {

  private static final double LEAST_MILLIS = 0.01;

  private final PropagateResults results;

  private PropagateReport(PropagateResults results) {
    this.results = results;
  }

  /**
   * Writes {@code folder/report.html}.
   *
   * @throws Failure if it can't be written
   */
  public static Path write(Path folder, PropagateResults results) {
    return Page.write(folder.resolve(Report.NAME), html(results));
  }

  /** The report as HTML. */
  public static String html(PropagateResults results) {
    return new PropagateReport(results).page();
  }

  private String page() {
    StringBuilder html = Page.open("OneHop propagate: " + results.topology().name());
    notices(html);
    PropagateTable.conditions(results)
        .forEach(line -> html.append("<p>").append(Html.escape(line)).append("</p>\n"));
    Map<String, List<PropagateMeasurement>> names = new LinkedHashMap<>();
    for (PropagateMeasurement each : results.measurements()) {
      names.computeIfAbsent(each.name(), name -> new ArrayList<>()).add(each);
    }
    html.append("<nav aria-label=\"Sections\">");
    names
        .keySet()
        .forEach(
            name -> {
              html.append("<a href=\"#").append(Html.escape(name)).append("\">");
              html.append(Html.escape(name)).append("</a>");
            });
    html.append("<a href=\"#topology\">Topology</a><a href=\"#facts\">Servers and machine</a>");
    html.append("<a href=\"#reproduce\">How to reproduce</a></nav>\n");
    html.append("<ul>\n");
    PropagateTable.notes()
        .lines()
        .forEach(line -> html.append("<li>").append(Html.escape(line)).append("</li>\n"));
    html.append("</ul>\n");
    names.forEach((name, measurements) -> section(html, name, measurements));
    Page page = new Page(results.surroundings());
    page.topology(html);
    page.facts(html);
    page.reproduce(html, "The HdrHistogram logs (<code>.hlog</code>) lie in folders");
    return Page.close(html);
  }

  private void notices(StringBuilder html) {
    RunFacts run = results.run();
    if (!run.complete()) {
      Page.notice(
          html,
          "Unfinished run of "
              + run.pointsPlanned()
              + " measurements"
              + (run.stopped() == null ? "." : " (" + run.stopped() + ")."));
    }
    if (results.faults() > 0) {
      Page.notice(
          html, Format.count(results.faults()) + " objects were lost or doubled; see the tables.");
    }
    run.missing().forEach(what -> Page.notice(html, "Not known: " + what + "."));
  }

  private void section(StringBuilder html, String name, List<PropagateMeasurement> measurements) {
    html.append("<section id=\"").append(Html.escape(name)).append("\">\n<h2>");
    html.append(Html.escape(name)).append("</h2>\n");
    StringBuilder charts = new StringBuilder();
    byDocuments(measurements)
        .forEach(
            (documents, some) -> {
              String size = Format.count(documents) + " objects";
              chart(charts, some, "objects per write", PropagateMeasurement::batch, size);
              chart(charts, some, "bytes per object", PropagateMeasurement::bytes, size);
              chart(charts, some, "clients", PropagateMeasurement::clients, size);
            });
    chart(charts, measurements, "objects", PropagateMeasurement::documents, "all sizes");
    if (!charts.isEmpty()) {
      html.append("<ul class=\"legend\">");
      looks(measurements).forEach(look -> look.appendTo(html));
      html.append("</ul>\n<div class=\"grid\">\n").append(charts).append("</div>\n");
    }
    PropagateTable.tables(results)
        .forEach(
            (title, rows) -> {
              if (title.startsWith(name + ":")) {
                html.append(Tables.of(title + "; times in ms", rows));
              }
            });
    html.append("</section>\n");
  }

  private static Map<Integer, List<PropagateMeasurement>> byDocuments(
      List<PropagateMeasurement> measurements) {
    Map<Integer, List<PropagateMeasurement>> groups = new LinkedHashMap<>();
    for (PropagateMeasurement each : measurements) {
      groups.computeIfAbsent(each.documents(), documents -> new ArrayList<>()).add(each);
    }
    return groups;
  }

  private static List<PathLook> looks(List<PropagateMeasurement> measurements) {
    return Arrays.stream(PathLook.values())
        .filter(look -> measurements.stream().anyMatch(look::is))
        .toList();
  }

  /** Time by a size, if there are several of it: medians of whole tests where there are any. */
  private static void chart(
      StringBuilder html,
      List<PropagateMeasurement> measurements,
      String label,
      ToIntFunction<PropagateMeasurement> size,
      String of) {
    List<Integer> sizes = measurements.stream().map(size::applyAsInt).distinct().toList();
    if (sizes.size() < 2) {
      return;
    }
    boolean tests = measurements.stream().anyMatch(each -> each.test() != null);
    DoubleSummaryStatistics range = new DoubleSummaryStatistics();
    measurements.forEach(each -> range.accept(millis(each)));
    boolean load = measurements.get(0).name().equals(PropagateMeasurement.LOAD);
    String caption =
        "Time by %s, %s, p50 %s".formatted(label, of, tests && !load ? "of tests" : "until live");
    LineChart chart =
        new LineChart(
            caption + ", in milliseconds",
            Size.SMALL,
            Axis.counts(label, sizes),
            Axis.logarithmic("ms (log scale)", range.getMin(), range.getMax()));
    for (PathLook look : looks(measurements)) {
      List<Spot> spots = new ArrayList<>();
      for (PropagateMeasurement each : measurements) {
        if (look.is(each)) {
          double millis = millis(each);
          int x = size.applyAsInt(each);
          spots.add(
              new Spot(
                  x,
                  millis,
                  "%s, %s %s: %s ms"
                      .formatted(look.label(), Format.count(x), label, Format.ofMillis(millis))));
        }
      }
      chart.line(look, "", spots);
    }
    html.append("<figure>").append(chart.toSvg()).append("<figcaption>");
    html.append(Html.escape(caption)).append("</figcaption></figure>\n");
  }

  private static double millis(PropagateMeasurement each) {
    LatencySummary test = each.test();
    boolean whole = test != null && test.count() > 0;
    long p50 = whole && test != null ? test.p50() : each.latency().p50();
    return Math.max(LEAST_MILLIS, p50 / 1000.0);
  }
}
