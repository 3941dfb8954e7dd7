package dev.onehop.measure.report;

import dev.onehop.measure.report.LineChart.Size;
import dev.onehop.measure.report.LineChart.Spot;
import dev.onehop.measure.results.CopyBenchResults;
import dev.onehop.measure.results.CopyBenchRun;
import dev.onehop.measure.results.RunFacts;
import dev.onehop.resync.Failure;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** {@code report.html} of a run of {@code onehop bench copy} or {@code bench verify}. */
public final class CopyBenchReport {

  private CopyBenchReport() {}

  /** The report as HTML. */
  public static String html(CopyBenchResults results) {
    StringBuilder html = Page.open("OneHop copy, beside other tools");
    notices(html, results);
    List<String> sentences = CopyBenchTable.sentences(results);
    for (int i = 0; i < sentences.size(); i++) {
      html.append(i == 0 ? "<p class=\"lede\">" : "<p>");
      html.append(Html.escape(sentences.get(i))).append("</p>\n");
    }
    html.append("<nav aria-label=\"Sections\"><a href=\"#time\">Documents per second</a>");
    html.append("<a href=\"#topology\">Topology</a><a href=\"#facts\">Servers and machine</a>");
    html.append("<a href=\"#reproduce\">How to reproduce</a></nav>\n");
    html.append("<section id=\"time\">\n<h2>Documents per second, second by second</h2>\n");
    html.append("<ul class=\"legend\">");
    for (ToolLook look : ToolLook.of(results.tools())) {
      look.appendTo(html);
    }
    html.append("</ul>\n<div class=\"grid\">\n");
    for (String title : results.titles()) {
      String chart = chart(results, title);
      if (!chart.isEmpty()) {
        html.append("<figure>").append(chart).append("<figcaption>");
        html.append(Html.escape(title)).append("; each round</figcaption></figure>\n");
      }
    }
    html.append("</div>\n");
    for (List<List<String>> rows : CopyBenchTable.tables(results)) {
      html.append(Tables.of(caption(rows), rows));
    }
    html.append("<p>").append(Html.escape(CopyBenchTable.notes())).append("</p>\n</section>\n");
    Page page = new Page(results.surroundings());
    page.topology(html);
    page.facts(html);
    page.reproduce(html, "What the copying processes complained of lies under <code>logs/</code>");
    return Page.close(html);
  }

  private static String caption(List<List<String>> rows) {
    List<String> columns = rows.get(0);
    return columns.contains("tool")
        ? "Processor seconds per 1,000 documents"
        : columns.contains("docs/s") ? "Documents per second" : "Lag in milliseconds";
  }

  /**
   * Writes {@code folder/report.html}.
   *
   * @throws Failure if it can't be written
   */
  public static Path write(Path folder, CopyBenchResults results) {
    return Page.write(folder.resolve(Report.NAME), html(results));
  }

  private static void notices(StringBuilder html, CopyBenchResults results) {
    RunFacts run = results.run();
    if (!run.complete()) {
      Page.notice(
          html,
          "Unfinished run: "
              + results.points().size()
              + " of "
              + run.pointsPlanned()
              + " copies"
              + (run.stopped() == null ? "." : " (" + run.stopped() + ")."));
    }
    if (results.faults() > 0) {
      Page.notice(
          html,
          results.faults()
              + " of "
              + results.points().size()
              + " copies differ from their source; see the table.");
    }
  }

  private static String chart(CopyBenchResults results, String title) {
    List<CopyBenchRun> runs =
        results.points().stream()
            .filter(run -> run.title().equals(title) && run.series().size() > 1)
            .toList();
    if (runs.isEmpty()) {
      return "";
    }
    int seconds = runs.stream().mapToInt(run -> run.series().size()).max().orElse(1);
    double highest =
        runs.stream()
            .flatMap(run -> run.series().stream())
            .mapToDouble(Double::doubleValue)
            .max()
            .orElse(1);
    LineChart chart =
        new LineChart(
            title + ": documents per second by time",
            Size.SMALL,
            Axis.seconds(seconds),
            Axis.fromZero("documents per second", highest));
    for (ToolLook look : ToolLook.of(results.tools())) {
      for (CopyBenchRun run : runs) {
        if (run.tool().equals(look.tool())) {
          List<Spot> spots = new ArrayList<>();
          for (int i = 0; i < run.series().size(); i++) {
            double rate = run.series().get(i);
            spots.add(
                new Spot(
                    i + 0.5,
                    rate,
                    "%s, round %d: %s/s".formatted(look.label(), run.round(), Format.rate(rate))));
          }
          chart.line(look, "", spots);
        }
      }
    }
    return chart.toSvg();
  }
}
