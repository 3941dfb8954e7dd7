package dev.onehop.cli;

import dev.onehop.measure.frame.Bench;
import dev.onehop.measure.frame.ClusterSource;
import dev.onehop.measure.frame.RunContext;
import dev.onehop.measure.frame.Session;
import dev.onehop.measure.results.ResultsFile;
import dev.onehop.measure.results.RunResults;
import dev.onehop.resync.Failure;
import dev.onehop.resync.Terminal;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.Objects;
import java.util.function.BiFunction;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** The options for the location and display of results, and the end of a run. */
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
   * Runs a bench until it ends or the JVM gets a signal to stop, and shows the results.
   *
   * @param source the source of the cluster; null for a bench that starts its own servers
   * @throws Failure if the run ended early
   */
  <C extends Bench.Cell, P, R extends RunResults> R run(
      Bench<C, P, R> bench, @Nullable ClusterSource source) {
    return run(bench, source, folder(), repeated());
  }

  /**
   * Runs a bench with the folder of {@link #folder}.
   *
   * @throws Failure if the run ended early
   */
  <C extends Bench.Cell, P, R extends RunResults> R run(
      Bench<C, P, R> bench, @Nullable ClusterSource source, Path folder) {
    return run(bench, source, folder, repeated());
  }

  /** The command line, which repeats the run. */
  private String repeated() {
    return Shell.commandLine(command.commandLine().getParseResult().originalArgs());
  }

  /**
   * Runs a bench with another command line that repeats the run.
   *
   * @throws Failure if the run ended early
   */
  <C extends Bench.Cell, P, R extends RunResults> R run(
      Bench<C, P, R> bench, @Nullable ClusterSource source, String commandLine) {
    return run(bench, source, folder(), commandLine);
  }

  private <C extends Bench.Cell, P, R extends RunResults> R run(
      Bench<C, P, R> bench, @Nullable ClusterSource source, Path folder, String commandLine) {
    RunContext context = RunContext.of(folder, Home.folder(), commandLine);
    Session.Outcome<R> ended = Session.run(bench, source, context, Terminal.detect());
    return end(folder, ended.results(), ended.failure(), bench::page, bench::table);
  }

  /**
   * Shows the results, and fails if the run has failed.
   *
   * @param folder of {@link #folder}, removed if there are no results and no logs
   * @param results null if there are none
   * @param failure the reason of an early end; null if it did not end early
   * @param report writes the report and returns its file
   * @param table the results for a terminal, empty if there is nothing to show
   */
  <R extends RunResults> R end(
      Path folder,
      @Nullable R results,
      @Nullable Failure failure,
      BiFunction<Path, R, Path> report,
      Function<R, String> table) {
    if (results == null) {
      ResultsFolder.removeIfEmpty(folder);
    } else {
      Path page = report.apply(folder, results);
      PrintWriter stdout = command.commandLine().getOut();
      if (json) {
        stdout.print(ResultsFile.toJson(results));
      } else {
        stdout.print(table.apply(results));
        stdout.println("Results: " + folder.resolve(ResultsFile.NAME));
        stdout.println("Report:  " + page);
      }
      stdout.flush();
    }
    if (failure != null) {
      throw failure;
    }
    return Objects.requireNonNull(results);
  }
}
