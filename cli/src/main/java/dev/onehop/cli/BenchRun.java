package dev.onehop.cli;

import dev.onehop.measure.points.BenchPlan;
import dev.onehop.measure.points.BenchSession;
import dev.onehop.measure.points.ClientPlan;
import dev.onehop.measure.points.ResultsArchive;
import dev.onehop.measure.points.Workload;
import dev.onehop.measure.frame.ClusterSource;
import dev.onehop.measure.report.Report;
import dev.onehop.measure.report.ResultsTable;
import dev.onehop.measure.results.Results;
import dev.onehop.resync.Failure;
import dev.onehop.resync.Terminal;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** A bench run from the options to the report: starts the cluster, runs the bench, shows it. */
final class BenchRun {

  private final ClusterSource source;
  private final BenchPlan plan;
  private final ClientPlan clients;
  private final Workload workload;
  private final @Nullable Path out;
  private final boolean printResults;
  private final String command;
  private final PrintWriter stdout;

  BenchRun(
      ClusterSource source,
      BenchPlan plan,
      ClientPlan clients,
      Workload workload,
      @Nullable Path out,
      boolean printResults,
      String command,
      PrintWriter stdout) {
    this.source = source;
    this.plan = plan;
    this.clients = clients;
    this.workload = workload;
    this.out = out;
    this.printResults = printResults;
    this.command = command;
    this.stdout = stdout;
  }

  /** Runs it; the exit code. */
  int run() {
    Path folder = ResultsFolder.create(out);
    BenchSession session =
        new BenchSession(
            source, plan, clients, workload, folder, Home.folder(), command, Terminal.detect());
    Failure failure = session.run();
    Results results = session.results();
    if (results != null) {
      Path report = Report.write(folder, results);
      if (!results.points().isEmpty()
          || !results.scenarios().isEmpty()
          || !results.zones().isEmpty()
          || !results.fleets().isEmpty()) {
        stdout.print(ResultsTable.render(results));
      }
      stdout.println("Results: " + folder.resolve("results.json"));
      stdout.println("Report:  " + report);
      if (printResults) {
        stdout.print(ResultsArchive.pack(folder));
      }
      stdout.flush();
    }
    if (failure != null) {
      if (results == null) {
        ResultsFolder.removeIfEmpty(folder);
      }
      throw failure;
    }
    long errors = Objects.requireNonNull(results).errors();
    if (errors > 0) {
      throw Failure.run(errors + " operations failed; see the table", null);
    }
    return 0;
  }
}
