package dev.onehop.cli;

import java.io.IOException;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** A command with the help and version that all have; on its own it only has commands below it. */
@Command(mixinStandardHelpOptions = true, versionProvider = Version.class)
abstract class Subcommand implements Callable<Integer> {

  /** How it stands in its command line, which has the writers and what was parsed. */
  @Spec CommandSpec spec;

  /**
   * Runs the command.
   *
   * @return the exit code
   * @throws ParameterException if one of its commands has to be named
   */
  @Override
  public Integer call() throws IOException, InterruptedException {
    throw new ParameterException(
        spec.commandLine(),
        "no command given; commands: " + String.join(", ", spec.subcommands().keySet()));
  }
}
