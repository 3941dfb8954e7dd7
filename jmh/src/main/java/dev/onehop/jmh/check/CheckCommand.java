package dev.onehop.jmh.check;

import java.io.IOException;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.openjdk.jmh.results.format.ResultFormatFactory;
import org.openjdk.jmh.results.format.ResultFormatType;
import org.openjdk.jmh.runner.RunnerException;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** The command {@code onehop jmh --check}. */
@Command(
    name = "onehop jmh --check",
    header = "Check the speed of benchmarks relative to their baselines.",
    footer = {
      "",
      "Exit code: 0 = all limits hold, 1 = a limit is broken or a benchmark failed,",
      "2 = the command line was wrong."
    })
public final class CheckCommand implements Callable<Integer> {
  private static final int BROKEN = 1;
  private static final int USAGE = 2;

  @Spec private CommandSpec spec;

  @Parameters(
      arity = "0..1",
      paramLabel = "PATTERN",
      description = "Check only the limits whose names match this regular expression.")
  private @Nullable Pattern pattern;

  @Option(
      names = "-rff",
      paramLabel = "FILE",
      description = "Write the results to this file, as JSON in JMH's own format.")
  private @Nullable Path resultFile;

  @Option(names = "--help", usageHelp = true, description = "Show this help.")
  @SuppressWarnings("UnusedVariable") // picocli reads it
  private boolean help;

  private final List<Comparison> bars;

  private CheckCommand(List<Comparison> bars) {
    this.bars = bars;
  }

  /** The command line for the bars of all benchmarks. */
  public static CommandLine commandLine() {
    return commandLine(Bars.all());
  }

  /** The command line for these bars. */
  static CommandLine commandLine(List<Comparison> bars) {
    return new CommandLine(new CheckCommand(bars))
        .setExecutionExceptionHandler(
            (e, commandLine, parsed) -> {
              if (e instanceof BarsException) {
                fail(commandLine.getErr(), String.valueOf(e.getMessage()));
                return USAGE;
              }
              if (e instanceof RunnerException) {
                fail(commandLine.getErr(), e.getMessage() + ": " + reason(e));
                return BROKEN;
              }
              throw e;
            });
  }

  @Override
  public Integer call() throws RunnerException, IOException {
    Pattern wanted = pattern;
    List<Comparison> chosen =
        wanted == null
            ? bars
            : bars.stream().filter(bar -> wanted.matcher(bar.name()).find()).toList();
    if (chosen.isEmpty()) {
      throw new BarsException("no limit has a name that matches \"" + wanted + "\"");
    }
    PrintWriter err = spec.commandLine().getErr();
    PrintWriter out = spec.commandLine().getOut();
    Check check =
        new Check(
            chosen,
            line -> {
              err.println(line);
              err.flush();
            });
    List<BarResult> verdicts = check.run();
    out.println(BarResult.header());
    verdicts.forEach(verdict -> out.println(verdict.row()));
    if (resultFile != null) {
      write(check, resultFile);
      out.println("Results: " + resultFile);
    }
    out.flush();
    List<BarResult> broken = verdicts.stream().filter(verdict -> !verdict.held()).toList();
    if (broken.isEmpty()) {
      return 0;
    }
    fail(
        err,
        "%d of %d limits broken: %s"
            .formatted(
                broken.size(),
                verdicts.size(),
                broken.stream().map(BarResult::complaint).collect(Collectors.joining("; "))));
    return BROKEN;
  }

  private static void write(Check check, Path file) throws IOException {
    Path folder = file.toAbsolutePath().getParent();
    if (folder != null) {
      Files.createDirectories(folder);
    }
    try (PrintStream json =
        new PrintStream(Files.newOutputStream(file), false, StandardCharsets.UTF_8)) {
      ResultFormatFactory.getInstance(ResultFormatType.JSON, json).writeOut(check.results());
    }
  }

  /**
   * Returns the message of the innermost cause. JMH's own exception has the benchmark's exceptions
   * as suppressed exceptions, and this method follows these, too.
   */
  private static String reason(Throwable failure) {
    Throwable at = failure;
    while (true) {
      if (at.getCause() != null) {
        at = at.getCause();
      } else if (at.getSuppressed().length > 0) {
        at = at.getSuppressed()[0];
      } else {
        return at.getMessage() == null ? at.toString() : at.getMessage();
      }
    }
  }

  private static void fail(PrintWriter err, String message) {
    err.println("onehop jmh: " + message);
    err.flush();
  }
}
