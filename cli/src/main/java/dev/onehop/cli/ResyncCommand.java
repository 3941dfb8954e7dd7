package dev.onehop.cli;

import picocli.CommandLine.Command;

/** {@code onehop resync}. */
@Command(
    name = "resync",
    synopsisSubcommandLabel = "COMMAND",
    header = "Add a member to a replica set by initial sync or by copying files; measure both.",
    subcommands = {ResyncRunCommand.class, ResyncCommand.Bench.class},
    footer = {
      "Examples:",
      "  onehop resync bench --quick    both methods, on a new replica set",
      "  onehop resync run --help       how to add a member to your set"
    })
final class ResyncCommand extends Subcommand {

  /** {@code onehop bench join} with its earlier name. */
  @Command(name = "bench")
  static final class Bench extends BenchJoinCommand {}
}
