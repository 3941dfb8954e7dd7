package dev.onehop.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onehop.measure.report.PropagateReportTest;
import dev.onehop.measure.report.Reports;
import dev.onehop.measure.results.ConsumeResults;
import dev.onehop.measure.results.CopyBenchResults;
import dev.onehop.measure.results.PropagateResults;
import dev.onehop.measure.results.ResultsFile;
import dev.onehop.measure.results.ResyncResults;
import dev.onehop.measure.results.RunResults;
import dev.onehop.measure.results.SampleConsumeResults;
import dev.onehop.measure.results.SampleCopyBenchResults;
import dev.onehop.measure.results.SampleResyncResults;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code report} reads the results file of each command, and shows the results again. */
class ReportCommandTest {
  @TempDir private Path folder;

  @Test
  void redrawsConsumeReport() throws Exception {
    ConsumeResults results = SampleConsumeResults.all();
    assertRedrawn(results, Reports.table(results), "OneHop consume");
  }

  @Test
  void redrawsCopyReport() throws Exception {
    CopyBenchResults results = SampleCopyBenchResults.all();
    assertRedrawn(results, Reports.table(results), "OneHop copy");
  }

  @Test
  void redrawsPropagateReport() throws Exception {
    PropagateResults results = PropagateReportTest.results(true, 0);
    assertRedrawn(results, Reports.table(results), "OneHop propagate");
  }

  @Test
  void redrawsResyncReport() throws Exception {
    ResyncResults results = SampleResyncResults.all();
    assertRedrawn(results, Reports.table(results), "OneHop resync");
  }

  private void assertRedrawn(RunResults results, String table, String title) throws Exception {
    ResultsFile.write(folder, results);
    StringWriter out = new StringWriter();
    int exitCode =
        OneHopCommand.commandLine()
            .setOut(new PrintWriter(out))
            .execute("report", folder.toString());
    assertThat(exitCode).isZero();
    assertThat(out.toString()).startsWith(table);
    assertThat(Files.readString(folder.resolve("report.html"))).contains(title);
  }
}
