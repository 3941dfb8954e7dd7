package dev.onehop.cli;

import picocli.CommandLine.Command;

/** {@code onehop topology}. */
@Command(
    name = "topology",
    synopsisSubcommandLabel = "up|status|down|form",
    header = "Keep a sharded cluster over distant regions running.",
    subcommands = {
      TopologyUpCommand.class,
      TopologyStatusCommand.class,
      TopologyDownCommand.class,
      TopologyFormCommand.class
    },
    footer = {
      "Examples:",
      "  onehop topology up                 us-2014 until Ctrl-C",
      "  onehop topology up --detach --topology atlas-3-region",
      "  onehop topology status",
      "  onehop topology down               stops it, and removes the remains of killed runs"
    })
final class TopologyCommand extends Subcommand {}
