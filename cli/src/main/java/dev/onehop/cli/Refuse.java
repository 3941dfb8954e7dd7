package dev.onehop.cli;

import dev.onehop.resync.Failure;
import java.util.stream.Stream;
import picocli.CommandLine.Model.CommandSpec;

/** Refuses wrong command lines. All methods throw a {@link Failure} of wrong usage. */
final class Refuse {

  private Refuse() {}

  /** Refuses the command line if a condition holds. */
  static void when(boolean isWrong, String message) {
    if (isWrong) {
      throw Failure.usage(message);
    }
  }

  /**
   * Refuses options of a command if a condition holds.
   *
   * @param why the part of the message that follows the name of the option
   */
  static void options(boolean areWrong, CommandSpec command, String why, String... options) {
    Stream.of(options)
        .filter(command.commandLine().getParseResult()::hasMatchedOption)
        .findFirst()
        .ifPresent(option -> when(areWrong, option + why));
  }
}
