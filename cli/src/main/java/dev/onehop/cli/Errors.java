package dev.onehop.cli;

import dev.onehop.resync.Failure;
import dev.onehop.testbed.topology.TopologyException;
import java.io.PrintWriter;
import java.util.List;
import java.util.Objects;
import picocli.CommandLine;
import picocli.CommandLine.IExecutionExceptionHandler;
import picocli.CommandLine.IParameterExceptionHandler;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.UnmatchedArgumentException;

/** Prints any error that ends a command as one line on standard error, and returns an exit code. */
final class Errors implements IExecutionExceptionHandler, IParameterExceptionHandler {

  @Override
  public int handleParseException(ParameterException e, String[] args) {
    CommandLine command = e.getCommandLine();
    StringBuilder line = new StringBuilder(Failure.firstLine(e).replaceFirst("^Error: ", ""));
    if (e instanceof UnmatchedArgumentException unmatched) {
      List<String> suggestions = unmatched.getSuggestions();
      if (!suggestions.isEmpty()) {
        line.append("; did you mean ").append(String.join(" or ", suggestions)).append('?');
      }
    }
    line.append(" (see ").append(command.getCommandSpec().qualifiedName(" ")).append(" --help)");
    print(command, line.toString(), e, List.of(args));
    return Failure.USAGE;
  }

  @Override
  public int handleExecutionException(Exception e, CommandLine command, ParseResult parsed) {
    Failure failure = failure(e);
    print(command, Objects.requireNonNull(failure.getMessage()), e, parsed.originalArgs());
    return failure.exitCode();
  }

  private static Failure failure(Exception e) {
    // A library has refused a value of the command line.
    boolean usage = e instanceof IllegalArgumentException || e instanceof TopologyException;
    return usage ? Failure.usage(Failure.firstLine(e)) : Failure.of(e);
  }

  private static void print(CommandLine command, String line, Exception e, List<String> args) {
    PrintWriter err = command.getErr();
    err.println("onehop: " + line);
    String debug = System.getenv().getOrDefault("ONEHOP_DEBUG", "0");
    if (args.contains("--debug") || !(debug.isEmpty() || debug.equals("0"))) {
      e.printStackTrace(err);
    }
    err.flush();
  }
}
