package dev.onehop.measure.report;

import dev.onehop.measure.results.ConsumeResults;
import dev.onehop.measure.results.CopyBenchResults;
import dev.onehop.measure.results.PropagateResults;
import dev.onehop.measure.results.Results;
import dev.onehop.measure.results.ResyncResults;
import dev.onehop.measure.results.RunResults;
import dev.onehop.resync.Failure;
import java.nio.file.Path;

/** The table for a terminal and the page of every command that measures. */
public final class Reports {

  /** The page's name in a results folder. */
  public static final String NAME = "report.html";

  private Reports() {}

  /** The tables with title, notes and sentences, as text; lines end in newlines. */
  public static String table(RunResults results) {
    if (results instanceof ConsumeResults consumed) {
      return ConsumeTable.render(consumed);
    }
    if (results instanceof PropagateResults propagated) {
      return PropagateTable.render(propagated);
    }
    if (results instanceof CopyBenchResults copied) {
      return CopyBenchTable.render(copied);
    }
    if (results instanceof ResyncResults resynced) {
      return ResyncTable.render(resynced);
    }
    return ResultsTable.render((Results) results);
  }

  /**
   * The page as HTML.
   *
   * @param folder the run's folder: percentile curves are drawn from the HdrHistogram logs that are
   *     still there
   */
  public static String html(RunResults results, Path folder) {
    if (results instanceof ConsumeResults consumed) {
      return ConsumeReport.html(consumed, folder);
    }
    if (results instanceof PropagateResults propagated) {
      return PropagateReport.html(propagated);
    }
    if (results instanceof CopyBenchResults copied) {
      return CopyBenchReport.html(copied);
    }
    if (results instanceof ResyncResults resynced) {
      return ResyncReport.html(resynced);
    }
    return Report.html((Results) results, folder);
  }

  /**
   * Writes {@code folder/report.html}.
   *
   * @return the file
   * @throws Failure if it can't be written
   */
  public static Path write(Path folder, RunResults results) {
    return Page.write(folder.resolve(NAME), html(results, folder));
  }
}
