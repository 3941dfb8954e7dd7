package dev.onehop.cli;

import picocli.CommandLine.Command;

/** {@code onehop resync}. */
@Command(
    name = "resync",
    synopsisSubcommandLabel = "COMMAND",
    header = "Give a replica set a new member, logically or by copying files; measure both.",
    subcommands = {ResyncRunCommand.class, ResyncCommand.Bench.class},
    footer = {
      "",
      "Examples:",
      "  onehop resync bench --quick    both ways, on a replica set of its own",
      "  onehop resync run --help       how to add a member to yours"
    })
final class ResyncCommand extends Subcommand {

  /** {@code onehop bench join} by its earlier name. */
  @Command(name = "bench")
  static final class Bench extends BenchJoinCommand {}
}
