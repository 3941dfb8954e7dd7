package dev.onehop.cli;

import dev.onehop.measure.points.CollectedRun;
import dev.onehop.measure.points.ResultsArchive;
import dev.onehop.measure.report.Reports;
import dev.onehop.measure.results.Results;
import dev.onehop.measure.results.ResultsFile;
import dev.onehop.resync.Failure;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code onehop bench collect}. */
@Command(
    name = "collect",
    header = "Combine the results of a bench's clients on many machines into one run.",
    description =
        "Takes the results of each client from its folder, or from its saved output if it ran with"
            + " --print-results. Adds up the histograms, and writes results.json, report and table"
            + " as bench --clients does.",
    footer = {
      "Examples:",
      "  onehop bench collect --out run results/client-*",
      "  for i in 0 1 2; do kubectl logs job-pod-$i > client-$i.log; done",
      "  onehop bench collect --out run client-*.log"
    })
final class CollectCommand extends Subcommand {

  @Parameters(
      paramLabel = "CLIENT",
      arity = "1..*",
      description = "A client's folder with its results.json, or its saved output.")
  List<Path> clients = new ArrayList<>();

  @Option(
      names = "--out",
      paramLabel = "DIR",
      required = true,
      description = "The folder for the results of the run. It must be empty or not exist.")
  private Path out;

  @Option(
      names = "--json",
      description = "Print the results as JSON on standard output, in place of the table.")
  private boolean json;

  @Override
  public Integer call() {
    ResultsFolder.requireEmpty(out);
    Results results = CollectedRun.merge(folders(), out);
    Path report = Reports.write(out, results);
    if (json) {
      out().print(ResultsFile.toJson(results));
    } else {
      out().print(Reports.table(results));
      out().println("Results: " + out.resolve(ResultsFile.NAME));
      out().println("Report:  " + report);
    }
    if (!results.fault().isEmpty()) {
      throw Failure.run(results.fault() + "; see the table", null);
    }
    return 0;
  }

  /**
   * The folders with the clients' results. A client may be given as a file with its saved output.
   * The results in this file are then unpacked below the run's folder.
   */
  private List<Path> folders() {
    List<Path> folders = new ArrayList<>();
    for (Path client : clients) {
      Path folder = client;
      if (Files.isRegularFile(client)) {
        folder = out.resolve("clients").resolve("%02d".formatted(folders.size()));
        if (!ResultsArchive.unpack(read(client), folder)) {
          throw Failure.usage(client + " has no results: run the client with --print-results");
        }
      }
      Refuse.when(
          !Files.isRegularFile(folder.resolve(ResultsFile.NAME)),
          "no " + ResultsFile.NAME + " in " + client);
      folders.add(folder);
    }
    return folders;
  }

  private static String read(Path log) {
    try {
      return Files.readString(log);
    } catch (IOException e) {
      throw Failure.usage("cannot read " + log + ": " + Failure.reason(e));
    }
  }
}
