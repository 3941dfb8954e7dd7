package dev.onehop.cli;

import dev.onehop.resync.Failure;
import dev.onehop.testbed.Testbed;
import dev.onehop.testbed.topology.Topology;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;

/** The options of the cluster to start, the same for every command that starts one. */
@HelpGroup("Cluster")
final class ServerOptions {

  @Option(
      names = "--topology",
      paramLabel = "NAME|FILE",
      defaultValue = "us-2014",
      description =
          "A shipped topology (us-2014, atlas-3-region, two-near-mongos, three-zones,"
              + " single-host) or a YAML file of your own. Default: ${DEFAULT-VALUE}.")
  String topology = "us-2014";

  @Mixin ProgramOptions programs = new ProgramOptions();

  @Option(
      names = "--fcv",
      paramLabel = "X.Y",
      description = "The cluster's feature compatibility version. Default: the servers' own.")
  @Nullable String fcv;

  @Option(
      names = "--existing",
      description =
          "Start no servers. Use running servers of the topology, and reach each host by its name,"
              + " as in docker/compose.yaml.")
  boolean existing;

  @Mixin ExistingOptions existingOptions = new ExistingOptions();

  /** Checks the format of the options. */
  void check() {
    Refuse.when(
        fcv != null && !fcv.matches("\\d+\\.\\d+"),
        "--fcv " + fcv + ": write it as X.Y, such as 6.0");
    programs.check();
    existingOptions.check();
  }

  /**
   * The named topology. Refuses options that have no effect: options for the start of servers if
   * the servers exist already, and options for existing servers if the command starts the servers.
   *
   * @throws Failure if there is such an option, or if the topology does not exist or is invalid
   */
  Topology topology(CommandSpec command) {
    String orUrl = command.findOption("--url") == null ? "" : " or --url";
    Refuse.options(existing, command, " and --existing exclude each other", "--mongod", "--mongos");
    Refuse.options(!existing, command, " requires --existing", "--key-file");
    Refuse.options(!existing, command, " requires --existing" + orUrl, "--tls-ca");
    return Topology.resolve(topology);
  }

  /** Creates a testbed for a topology, with the options for servers. */
  Testbed.Builder testbed(Topology resolved) {
    Testbed.Builder builder =
        Testbed.builder(resolved)
            .mongod(programs.mongod)
            .mongos(programs.mongos)
            .featureCompatibilityVersion(fcv);
    return existing ? builder.existing(existingOptions.servers()) : builder;
  }
}
