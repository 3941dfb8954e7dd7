package dev.onehop.measure.report;

import dev.onehop.measure.report.LineChart.Size;
import dev.onehop.measure.report.LineChart.Spot;
import dev.onehop.measure.results.ResyncCell;
import dev.onehop.measure.results.ResyncResults;
import dev.onehop.measure.results.ResyncResults.Kind;
import dev.onehop.measure.results.RunFacts;
import dev.onehop.resync.Failure;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** {@code report.html} of a run of {@code onehop resync bench}. */
public final class ResyncReport {

  private ResyncReport() {}

  /** The report as HTML. */
  public static String html(ResyncResults results) {
    StringBuilder html = Page.open("OneHop resync: a new member, by initial sync or by its files");
    notices(html, results);
    List<String> sentences = ResyncTable.sentences(results);
    for (int i = 0; i < sentences.size(); i++) {
      html.append(i == 0 ? "<p class=\"lede\">" : "<p>");
      html.append(Html.escape(sentences.get(i))).append("</p>\n");
    }
    html.append("<nav aria-label=\"Sections\"><a href=\"#sizes\">Seconds by size</a>");
    html.append("<a href=\"#facts\">Servers and machine</a>");
    html.append("<a href=\"#reproduce\">How to reproduce</a></nav>\n");
    html.append("<section id=\"sizes\">\n<h2>Seconds until the new member has caught up</h2>\n");
    html.append("<ul class=\"legend\">");
    for (MethodLook look : looks(results)) {
      look.appendTo(html);
    }
    html.append("</ul>\n<div class=\"grid\">\n");
    for (Kind kind : results.kinds()) {
      html.append("<figure>").append(chart(results, kind)).append("<figcaption>");
      html.append(ResyncTable.title(kind)).append("; median, least and most</figcaption></figure>");
      html.append('\n');
    }
    html.append("</div>\n");
    html.append(Tables.of("Methods", ResyncTable.rows(results)));
    html.append(Tables.of("What applications noticed", ResyncTable.meanwhile(results)));
    html.append("<p>").append(Html.escape(ResyncTable.notes())).append("</p>\n</section>\n");
    Page page = new Page(results.surroundings());
    page.facts(html);
    page.reproduce(html, "The results lie");
    return Page.close(html);
  }

  /**
   * Writes {@code folder/report.html}.
   *
   * @throws Failure if it can't be written
   */
  public static Path write(Path folder, ResyncResults results) {
    return Page.write(folder.resolve(Report.NAME), html(results));
  }

  private static void notices(StringBuilder html, ResyncResults results) {
    RunFacts run = results.run();
    if (!run.complete()) {
      Page.notice(
          html,
          "Unfinished run: "
              + results.cells().size()
              + " of "
              + run.pointsPlanned()
              + " cells"
              + (run.stopped() == null ? "." : " (" + run.stopped() + ")."));
    }
    if (results.faults() > 0) {
      Page.notice(
          html,
          results.faults()
              + " cells have a method that is not proved, members that differ, or lost writes; see"
              + " the table.");
    }
  }

  private static List<MethodLook> looks(ResyncResults results) {
    return List.of(MethodLook.values()).stream()
        .filter(
            look -> results.cells().stream().anyMatch(cell -> cell.method().equals(look.method())))
        .toList();
  }

  private static int mebibytes(ResyncCell cell) {
    return Math.toIntExact(Math.max(1, Math.round(cell.bytes() / (double) (1 << 20))));
  }

  private static String chart(ResyncResults results, Kind kind) {
    List<ResyncCell> cells =
        results.cells().stream()
            .filter(cell -> cell.isLike(kind.indexes(), kind.collections()))
            .toList();
    LineChart chart =
        new LineChart(
            "Seconds by size, " + ResyncTable.title(kind),
            Size.SMALL,
            Axis.counts("MiB of documents", cells.stream().map(ResyncReport::mebibytes).toList()),
            // Charts of one scale can be compared.
            Axis.fromZero("seconds", highest(results)));
    for (MethodLook look : looks(results)) {
      List<Spot> spots = new ArrayList<>();
      for (ResyncCell cell : results.cells(look.method(), kind.indexes(), kind.collections())) {
        double seconds = cell.medianSeconds();
        spots.add(
            new Spot(
                mebibytes(cell),
                seconds,
                "%s, %d MiB: %s s, n = %d"
                    .formatted(
                        look.method(),
                        mebibytes(cell),
                        ResyncTable.seconds(seconds),
                        cell.seconds().size()),
                Collections.min(cell.seconds()),
                Collections.max(cell.seconds())));
      }
      chart.line(look, "", spots);
    }
    return chart.toSvg();
  }

  private static double highest(ResyncResults results) {
    return results.cells().stream()
        .flatMap(cell -> cell.seconds().stream())
        .mapToDouble(Double::doubleValue)
        .max()
        .orElse(1);
  }
}
