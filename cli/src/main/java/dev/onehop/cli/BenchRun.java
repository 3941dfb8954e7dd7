package dev.onehop.cli;

import dev.onehop.cli.bench.BenchPlan;
import dev.onehop.cli.bench.BenchSession;
import dev.onehop.cli.bench.ClientPlan;
import dev.onehop.cli.bench.ClusterSource;
import dev.onehop.cli.bench.ResultsArchive;
import dev.onehop.cli.bench.Workload;
import dev.onehop.cli.report.Report;
import dev.onehop.cli.report.ResultsTable;
import dev.onehop.cli.results.Results;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** A bench run from the options to the report: starts the cluster, runs the bench, shows it. */
final class BenchRun {

  private static final DateTimeFormatter FOLDER_NAME =
      DateTimeFormatter.ofPattern("yyyy-MM-dd'T'HH-mm-ss");

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
    Path folder = createFolder();
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
        removeIfEmpty(folder);
      }
      throw failure;
    }
    long errors = Objects.requireNonNull(results).errors();
    if (errors > 0) {
      throw Failure.run(errors + " operations failed; see the table", null);
    }
    return 0;
  }

  /** A run that found nothing leaves nothing. */
  private static void removeIfEmpty(Path folder) {
    try {
      Files.delete(folder);
    } catch (IOException e) {
      // It holds something, or can't be removed: it stays.
    }
  }

  /** An empty folder: results of two runs must not mix. */
  private Path createFolder() {
    Path folder =
        out != null
            ? out
            : Path.of(
                "onehop-results", FOLDER_NAME.format(LocalDateTime.now(ZoneId.systemDefault())));
    try {
      Files.createDirectories(folder);
      try (Stream<Path> content = Files.list(folder)) {
        if (content.findAny().isPresent()) {
          throw Failure.usage("--out " + folder + " is not empty");
        }
      }
      // Before anything is started: whether results can be written there in the end.
      Files.delete(Files.createTempFile(folder, ".onehop", null));
    } catch (FileAlreadyExistsException e) {
      throw Failure.usage("--out " + folder + " is no folder");
    } catch (IOException e) {
      throw Failure.usage("cannot write to --out " + folder + ": " + Failure.reason(e));
    }
    return folder;
  }
}
