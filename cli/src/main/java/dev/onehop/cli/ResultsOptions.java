package dev.onehop.cli;

import dev.onehop.cli.results.ResultsFile;
import dev.onehop.cli.results.RunResults;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.Objects;
import java.util.function.BiFunction;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** The options that say where results go and how they are shown, and the end of a run. */
final class ResultsOptions {

  @Spec(Spec.Target.MIXEE)
  private CommandSpec command;

  @Option(
      names = "--out",
      paramLabel = "DIR",
      description =
          "Where results.json, report.html and the logs go. Default: onehop-results/<time>.")
  @Nullable Path out;

  @Option(
      names = "--json",
      description = "Print the results as JSON on standard output, in place of the table.")
  boolean json;

  /** The empty folder of the results, made if it is not there. */
  Path folder() {
    return ResultsFolder.create(out);
  }

  /**
   * Shows what was found, and fails if the run has.
   *
   * @param folder of {@link #folder}, removed if there are no results and no logs
   * @param results null if there are none
   * @param failure why the run ended early; null if it did not
   * @param report writes the report, and returns where
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
