package dev.onehop.cli;

import dev.onehop.testbed.Testbed;
import dev.onehop.testbed.topology.Topology;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code onehop topology form}. */
@Command(
    name = "form",
    header = "Form a sharded cluster from running servers.",
    description =
        "Initiates the replica sets, adds the shards, and creates users if there is access control."
            + " Then shards the collection ycsb.usertable, and splits it for workloada. Every host"
            + " of the topology must be reachable by its name, as in docker/compose.yaml. Completed"
            + " steps are not repeated.")
final class TopologyFormCommand extends Subcommand {

  @Option(
      names = "--topology",
      paramLabel = "NAME|FILE",
      defaultValue = "us-2014",
      description = "The topology of the servers. Default: ${DEFAULT-VALUE}.")
  private String topologyName = "us-2014";

  @Option(
      names = "--records",
      paramLabel = "N",
      defaultValue = "" + UserTable.RECORDS,
      description =
          "The number of documents for which ycsb.usertable is split. Default:"
              + " ${DEFAULT-VALUE}.")
  private long records = UserTable.RECORDS;

  @Option(
      names = "--without-routers",
      description = "Form only the config servers and the shards, without mongoses.")
  private boolean withoutRouters;

  @Mixin private ExistingOptions existing = new ExistingOptions();

  @Override
  public Integer call() {
    Refuse.when(records < 1, "--records " + records + ": must be at least 1");
    Topology topology = Topology.resolve(topologyName);
    Testbed.Builder builder =
        Testbed.builder(topology).existing(existing.servers()).progress(out()::println);
    try (Testbed testbed = (withoutRouters ? builder.withoutRouters() : builder).start()) {
      int chunks = UserTable.shard(testbed, records);
      out()
          .printf(
              "formed: mongod %s, routers: %s %s; %s is split into %d chunks%n",
              testbed.server().mongodVersion(),
              testbed.server().router().label(),
              testbed.server().routerVersion(),
              UserTable.NAMESPACE,
              chunks);
      if (!withoutRouters) {
        out().println("URL: " + testbed.url());
      }
      return 0;
    }
  }
}
