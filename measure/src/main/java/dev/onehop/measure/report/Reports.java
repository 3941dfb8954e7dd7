package dev.onehop.measure.report;

import dev.onehop.measure.report.LineChart.Size;
import dev.onehop.measure.report.Section.Medium;
import dev.onehop.measure.results.ConsumeResults;
import dev.onehop.measure.results.CopyBenchResults;
import dev.onehop.measure.results.PropagateResults;
import dev.onehop.measure.results.Results;
import dev.onehop.measure.results.ResyncResults;
import dev.onehop.measure.results.RunResults;
import dev.onehop.resync.Failure;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Shows the results of a run in a terminal and as a page. */
public final class Reports {

  /** The page's name in a results folder. */
  public static final String NAME = "report.html";

  private Reports() {}

  /** The tables with title, notes and findings as text; every line ends in a newline. */
  public static String table(RunResults results) {
    return sheet(results, Path.of("")).text();
  }

  /**
   * The page as HTML: one file without scripts and without network access. Charts are SVG in the
   * page's light or dark colours, also in print.
   *
   * @param folder the run's folder: percentile curves are drawn from existing HdrHistogram logs
   */
  public static String html(RunResults results, Path folder) {
    return Page.of(sheet(results, folder));
  }

  /**
   * Writes {@code folder/report.html}.
   *
   * @return the file
   * @throws Failure if it can't be written
   */
  public static Path write(Path folder, RunResults results) {
    Path file = folder.resolve(NAME);
    try {
      return Files.writeString(file, html(results, folder));
    } catch (IOException e) {
      throw Failure.run("cannot write " + file + ": " + Failure.reason(e), e);
    }
  }

  /**
   * Writes each chart of the page as {@code folder/charts/ID-N.svg}, for a README: they follow
   * light and dark colours.
   *
   * @throws Failure if they can't be written
   */
  public static Path writeCharts(Path folder, RunResults results) {
    Path charts = folder.resolve("charts");
    try {
      Files.createDirectories(charts);
      for (Section section : sheet(results, folder).sections(Medium.PAGE)) {
        for (int i = 0; i < section.charts().size(); i++) {
          String svg = section.charts().get(i).svg(Size.WIDE);
          Files.writeString(charts.resolve(section.id() + "-" + (i + 1) + ".svg"), Page.alone(svg));
        }
      }
    } catch (IOException e) {
      throw Failure.run("cannot write " + charts + ": " + Failure.reason(e), e);
    }
    return charts;
  }

  private static Sheet sheet(RunResults results, Path folder) {
    if (results instanceof ConsumeResults consumed) {
      return new ConsumeSheet(consumed, folder).sheet();
    }
    if (results instanceof PropagateResults propagated) {
      return new PropagateSheet(propagated).sheet();
    }
    if (results instanceof CopyBenchResults copied) {
      return new CopySheet(copied).sheet();
    }
    if (results instanceof ResyncResults resynced) {
      return new ResyncSheet(resynced).sheet();
    }
    return BenchSheet.of((Results) results, folder);
  }
}
