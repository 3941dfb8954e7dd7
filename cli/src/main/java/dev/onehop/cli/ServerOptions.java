package dev.onehop.cli;

import dev.onehop.testbed.Testbed;
import dev.onehop.testbed.Topology;
import dev.onehop.testbed.TopologyException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** The options that say which cluster to start, the same for every command that starts one. */
final class ServerOptions {

  @Option(
      names = "--topology",
      paramLabel = "NAME|FILE",
      defaultValue = "us-2014",
      description =
          "A topology that ships (us-2014, atlas-3-region, two-near-mongos, three-zones, single-host) or a YAML"
              + " file of your own. Default: ${DEFAULT-VALUE}.")
  String topology = "us-2014";

  @Option(
      names = "--mongod",
      paramLabel = "PATH",
      defaultValue = "${env:ONEHOP_MONGOD}",
      description = "The mongod to run (also: ONEHOP_MONGOD). Default: found or fetched.")
  @Nullable Path mongod;

  @Option(
      names = "--mongos",
      paramLabel = "PATH",
      defaultValue = "${env:ONEHOP_MONGOS}",
      description =
          "The mongos to run (also: ONEHOP_MONGOS). Default: found or fetched; where there is none,"
              + " a stand-in router, announced.")
  @Nullable Path mongos;

  @Option(
      names = "--fcv",
      paramLabel = "X.Y",
      description = "The cluster's feature compatibility version. Default: the servers' own.")
  @Nullable String fcv;

  @Option(
      names = "--existing",
      description =
          "Use the topology's servers that run already, every host under its own name, as in"
              + " docker/compose.yaml; start none.")
  boolean existing;

  @Mixin ExistingOptions existingOptions = new ExistingOptions();

  /** Checks the form of what was given. */
  void check() {
    if (fcv != null && !fcv.matches("\\d+\\.\\d+")) {
      throw Failure.usage("--fcv " + fcv + ": write it as X.Y, such as 6.0");
    }
    requireProgram("--mongod", mongod);
    requireProgram("--mongos", mongos);
  }

  private static void requireProgram(String option, @Nullable Path path) {
    if (path != null && !(Files.isRegularFile(path) && Files.isExecutable(path))) {
      throw Failure.usage(
          option + " " + path + (Files.exists(path) ? " is no program" : ": no such file"));
    }
  }

  /**
   * The topology that was named.
   *
   * @throws Failure if there is none, or its file makes no sense
   */
  Topology resolveTopology() {
    try {
      return Topology.resolve(topology);
    } catch (TopologyException e) {
      throw Failure.usage(e.getMessage() == null ? e.toString() : e.getMessage());
    }
  }

  /** How to start a topology on these servers. */
  Testbed.Builder testbed(Topology resolved) {
    Testbed.Builder builder =
        Testbed.builder(resolved).mongod(mongod).mongos(mongos).featureCompatibilityVersion(fcv);
    return existing ? builder.existing(existingOptions.servers()) : builder;
  }
}
