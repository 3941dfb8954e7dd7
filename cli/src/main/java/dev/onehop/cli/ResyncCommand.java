package dev.onehop.cli;

import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code onehop resync}. */
@Command(
    name = "resync",
    mixinStandardHelpOptions = true,
    versionProvider = Version.class,
    synopsisSubcommandLabel = "COMMAND",
    header = "Give a replica set a new member, logically or by copying files; measure both.",
    subcommands = {ResyncRunCommand.class, ResyncCommand.Bench.class},
    footer = {
      "",
      "Examples:",
      "  onehop resync bench --quick    both ways, on a replica set of its own",
      "  onehop resync run --help       how to add a member to yours"
    })
final class ResyncCommand implements Runnable {

  /** {@code onehop bench join} by its earlier name. */
  @Command(name = "bench")
  static final class Bench extends BenchJoinCommand {}

  @Spec private CommandSpec spec;

  @Override
  public void run() {
    CommandLine line = spec.commandLine();
    throw new ParameterException(
        line, "no command given; commands: " + String.join(", ", spec.subcommands().keySet()));
  }
}
