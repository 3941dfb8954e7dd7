package dev.onehop.cli;

import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code onehop topology}. */
@Command(
    name = "topology",
    mixinStandardHelpOptions = true,
    versionProvider = Version.class,
    synopsisSubcommandLabel = "up|status|down|form",
    header = "Keep a sharded cluster over far-apart regions running.",
    subcommands = {
      TopologyUpCommand.class,
      TopologyStatusCommand.class,
      TopologyDownCommand.class,
      TopologyFormCommand.class
    },
    footer = {
      "",
      "Examples:",
      "  onehop topology up                 us-2014 until Ctrl-C",
      "  onehop topology up --detach --topology atlas-3-region",
      "  onehop topology status",
      "  onehop topology down               the one that runs, and what a killed run left"
    })
final class TopologyCommand implements Runnable {

  @Spec private CommandSpec spec;

  @Override
  public void run() {
    throw new ParameterException(
        spec.commandLine(),
        "no command given; commands: " + String.join(", ", spec.subcommands().keySet()));
  }
}
