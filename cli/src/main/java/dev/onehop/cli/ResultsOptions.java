package dev.onehop.cli;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import dev.onehop.measure.frame.Bench;
import dev.onehop.measure.frame.ClusterSource;
import dev.onehop.measure.frame.RunContext;
import dev.onehop.measure.frame.Session;
import dev.onehop.measure.results.ResultsFile;
import dev.onehop.measure.results.RunFacts;
import dev.onehop.measure.results.RunResults;
import dev.onehop.resync.Failure;
import dev.onehop.resync.Interruption;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** The options for the folder and the display of results. Runs a bench and shows its results. */
@HelpGroup("Results")
final class ResultsOptions {

  @Spec(Spec.Target.MIXEE)
  private CommandSpec command;

  @Option(
      names = "--out",
      paramLabel = "DIR",
      description =
          "The folder of results.json, report.html and the logs. Default: onehop-results/<time>.")
  @Nullable Path out;

  @Option(
      names = "--json",
      description = "Print the results as JSON on standard output, in place of the table.")
  boolean json;

  /** The empty folder of the results, created if it does not exist. */
  Path folder() {
    return ResultsFolder.create(out);
  }

  /**
   * The command line that repeats this run.
   *
   * @param answers options that the user did not write, but chose in answers to questions
   */
  String commandLine(List<String> answers) {
    List<String> arguments = new ArrayList<>(command.commandLine().getParseResult().originalArgs());
    arguments.addAll(answers);
    return Shell.commandLine(arguments);
  }

  /**
   * Runs a bench until it ends or the JVM gets a signal to stop, and shows the results.
   *
   * @param source the source of the cluster; null for a bench that starts its own servers
   * @return the exit code 0
   * @throws Failure if the run ended early, or has found a fault
   */
  <C extends Bench.Cell, P, R extends RunResults> int run(
      Bench<C, P, R> bench, @Nullable ClusterSource source) {
    return run(bench, source, folder(), commandLine(List.of()));
  }

  /**
   * Runs a bench whose results go to an existing folder, the result of {@link #folder}.
   *
   * @param commandLine the command line that repeats the run
   * @return the exit code 0
   * @throws Failure if the run ended early, or has found a fault
   */
  @SuppressWarnings("try") // While "unused" is open, a signal to stop waits for this thread.
  <C extends Bench.Cell, P, R extends RunResults> int run(
      Bench<C, P, R> bench, @Nullable ClusterSource source, Path folder, String commandLine) {
    try (Interruption unused = Interruption.ofThisThread()) {
      RunContext context = RunContext.of(folder, InstallationFolder.folder(), commandLine);
      return end(bench, folder, Session.run(bench, source, context));
    } finally {
      if (Files.notExists(folder.resolve(ResultsFile.NAME))) {
        ResultsFolder.removeIfEmpty(folder);
      }
    }
  }

  /** Shows the results, and fails if the run has failed or has found a fault. */
  private <R extends RunResults> int end(
      Bench<?, ?, R> bench, Path folder, Session.Outcome<R> ended) {
    PrintWriter stdout = command.commandLine().getOut();
    R results = ended.results();
    Failure failure = ended.failure();
    boolean interrupted = failure != null && failure.exitCode() == Failure.INTERRUPTED;
    Path file = folder.resolve(ResultsFile.NAME);
    if (results != null) {
      Path page = bench.page(folder, results);
      if (json) {
        stdout.print(ResultsFile.toJson(results));
      } else if (!interrupted) {
        stdout.print(bench.table(results));
        stdout.println("Results: " + file);
        stdout.println("Report:  " + page);
      }
    } else if (json && failure != null) {
      stdout.println(
          JsonNodeFactory.instance
              .objectNode()
              .put("complete", false)
              .put("error", failure.getMessage()));
    }
    if (failure == null) {
      String fault = Objects.requireNonNull(results).fault();
      if (!fault.isEmpty()) {
        throw Failure.run(fault + "; see the table", null);
      }
      return 0;
    }
    RunFacts run = results == null ? null : results.run();
    if (interrupted && results != null && run != null) {
      throw Failure.interrupted(
          "%d of %d measurements are in %s"
              .formatted(results.finished(), run.pointsPlanned(), file));
    }
    throw failure;
  }
}
