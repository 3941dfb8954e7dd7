package dev.onehop.cli;

import dev.onehop.resync.Failure;
import java.io.PrintWriter;
import java.util.List;
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
    print(command, line.toString(), e, wantsDebug(args));
    return Failure.USAGE;
  }

  @Override
  public int handleExecutionException(Exception e, CommandLine command, ParseResult parsed) {
    int exitCode = e instanceof Failure failure ? failure.exitCode() : Failure.RUN;
    String line = e.getMessage() == null ? e.getClass().getName() : Failure.firstLine(e);
    // The failure of a server includes the last lines of its log, which are printed in full.
    if (e instanceof Failure && e.getMessage() != null) {
      line = e.getMessage();
    }
    boolean debug = parsed.originalArgs().contains("--debug") || environmentWantsDebug();
    print(command, line, e, debug);
    return exitCode;
  }

  private static void print(CommandLine command, String line, Exception e, boolean debug) {
    PrintWriter err = command.getErr();
    err.println("onehop: " + line);
    if (debug) {
      e.printStackTrace(err);
    }
    err.flush();
  }

  private static boolean wantsDebug(String[] args) {
    return List.of(args).contains("--debug") || environmentWantsDebug();
  }

  private static boolean environmentWantsDebug() {
    String value = System.getenv("ONEHOP_DEBUG");
    return value != null && !value.isEmpty() && !value.equals("0");
  }
}
