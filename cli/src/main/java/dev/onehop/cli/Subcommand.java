package dev.onehop.cli;

import java.io.IOException;
import java.io.PrintWriter;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/**
 * A command with the common options for help and version. A command that does not override {@link
 * #call} only has subcommands.
 */
@Command(mixinStandardHelpOptions = true, versionProvider = Version.class)
abstract class Subcommand implements Callable<Integer> {

  /** The command's model in picocli. Its command line has the writers and the parse result. */
  @Spec CommandSpec spec;

  /** Standard output. It is flushed after each line, and at the end of the command. */
  final PrintWriter out() {
    return spec.commandLine().getOut();
  }

  /**
   * Runs the command.
   *
   * @return the exit code
   * @throws ParameterException if a subcommand is required
   */
  @Override
  public Integer call() throws IOException, InterruptedException {
    throw new ParameterException(
        spec.commandLine(),
        "no command given; commands: " + String.join(", ", spec.subcommands().keySet()));
  }
}
