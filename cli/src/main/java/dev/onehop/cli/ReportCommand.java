package dev.onehop.cli;

import dev.onehop.measure.report.Reports;
import dev.onehop.measure.results.ResultsFile;
import dev.onehop.measure.results.RunResults;
import java.nio.file.Files;
import java.nio.file.Path;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code onehop report}. */
@Command(
    name = "report",
    header = "Render the report and the table of a bench's run again.",
    footer = {
      "Example:",
      "  onehop report onehop-results/2026-11-21T10-30-00",
      "",
      "Percentile curves are drawn if the run's folder still has its HdrHistogram logs."
    })
final class ReportCommand extends Subcommand {

  @Parameters(paramLabel = "DIR", description = "The run's folder with its results.json.")
  private Path folder;

  @Option(
      names = "--charts",
      description =
          "Also write each chart as an SVG file into DIR/charts. The charts fit light and dark"
              + " pages.")
  private boolean charts;

  @Override
  public Integer call() {
    Refuse.when(!Files.isDirectory(folder), "there is no folder " + folder);
    RunResults results = ResultsFile.readAny(folder);
    out().print(Reports.table(results));
    out().println("Report: " + Reports.write(folder, results));
    if (charts) {
      out().println("Charts: " + Reports.writeCharts(folder, results));
    }
    return 0;
  }
}
