package dev.onehop.cli;

import dev.onehop.measure.report.ConsumeReport;
import dev.onehop.measure.report.ConsumeTable;
import dev.onehop.measure.report.CopyBenchReport;
import dev.onehop.measure.report.CopyBenchTable;
import dev.onehop.measure.report.PropagateReport;
import dev.onehop.measure.report.PropagateTable;
import dev.onehop.measure.report.Report;
import dev.onehop.measure.report.ResultsTable;
import dev.onehop.measure.report.ResyncReport;
import dev.onehop.measure.report.ResyncTable;
import dev.onehop.measure.results.ConsumeResults;
import dev.onehop.measure.results.CopyBenchResults;
import dev.onehop.measure.results.PropagateResults;
import dev.onehop.measure.results.Results;
import dev.onehop.measure.results.ResultsFile;
import dev.onehop.measure.results.ResyncResults;
import dev.onehop.resync.Failure;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code onehop report}. */
@Command(
    name = "report",
    mixinStandardHelpOptions = true,
    versionProvider = Version.class,
    header = "Draw a run's report and table again from its results, of any command that measures.",
    footer = {
      "",
      "Example:",
      "  onehop report onehop-results/2026-11-21T10-30-00",
      "",
      "Percentile curves are drawn if the run's HdrHistogram logs still lie beside its results."
    })
final class ReportCommand implements Callable<Integer> {

  @Spec private CommandSpec spec;

  @Parameters(paramLabel = "DIR", description = "The run's folder, with results.json in it.")
  private Path folder;

  @Override
  public Integer call() {
    if (!Files.isDirectory(folder)) {
      throw Failure.usage("no folder " + folder);
    }
    Optional<ConsumeResults> consumed =
        ResultsFile.read(folder, ConsumeResults.class, ConsumeResults.COMMAND);
    Optional<PropagateResults> propagated =
        ResultsFile.read(folder, PropagateResults.class, PropagateResults.COMMAND);
    Optional<ResyncResults> resynced =
        ResultsFile.read(folder, ResyncResults.class, ResyncResults.COMMAND);
    Optional<CopyBenchResults> copied =
        ResultsFile.read(folder, CopyBenchResults.class, CopyBenchResults.COMMAND);
    Path file;
    String table;
    if (consumed.isPresent()) {
      file = ConsumeReport.write(folder, consumed.get());
      table = ConsumeTable.render(consumed.get());
    } else if (propagated.isPresent()) {
      file = PropagateReport.write(folder, propagated.get());
      table = PropagateTable.render(propagated.get());
    } else if (resynced.isPresent()) {
      file = ResyncReport.write(folder, resynced.get());
      table = ResyncTable.render(resynced.get());
    } else if (copied.isPresent()) {
      file = CopyBenchReport.write(folder, copied.get());
      table = CopyBenchTable.render(copied.get());
    } else {
      Results results = ResultsFile.read(folder);
      file = Report.write(folder, results);
      table = ResultsTable.render(results);
    }
    spec.commandLine().getOut().print(table);
    spec.commandLine().getOut().println("Report: " + file);
    spec.commandLine().getOut().flush();
    return 0;
  }
}
