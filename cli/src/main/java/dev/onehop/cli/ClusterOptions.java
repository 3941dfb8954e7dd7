package dev.onehop.cli;

import dev.onehop.measure.frame.ClusterSource;
import dev.onehop.resync.Failure;
import dev.onehop.testbed.Testbed;
import dev.onehop.testbed.topology.Topology;
import java.util.List;
import java.util.Objects;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParseResult;

/** The options that say where to measure: a cluster to start, or one of the user's own. */
@HelpGroup("Cluster")
final class ClusterOptions {

  @Mixin ServerOptions servers = new ServerOptions();

  @Option(
      names = "--url",
      paramLabel = "URL",
      description =
          "Use a cluster of your own: the URL of its mongoses, with a user where it has access"
              + " control, whose password is taken from ONEHOP_PASSWORD. --tls-ca, too, holds for"
              + " it.")
  @Nullable String url;

  @Option(
      names = "--overwrite",
      description = "With --url: delete the documents that are in the run's collection.")
  boolean overwrite;

  /** What excludes a cluster of one's own. */
  private static final List<String> NOT_WITH_URL =
      List.of("--topology", "--mongod", "--mongos", "--fcv", "--existing", "--key-file");

  /**
   * The topology to start; null for a cluster of the user's own.
   *
   * @param notWithUrl options of the command that exclude that, too
   * @throws Failure if options contradict each other, or there is no such topology
   */
  @Nullable Topology topology(ParseResult parsed, List<String> notWithUrl) {
    if (url == null) {
      if (overwrite) {
        throw Failure.usage("--overwrite goes with --url");
      }
      return servers.resolveTopology();
    }
    Stream.concat(NOT_WITH_URL.stream(), notWithUrl.stream())
        .filter(parsed::hasMatchedOption)
        .findFirst()
        .ifPresent(
            option -> {
              throw Failure.usage(option + " and --url exclude each other");
            });
    return null;
  }

  /**
   * Checks that servers of the cluster may be stopped: those that are started, or those of a URL
   * that this user has started by {@code topology up} on this machine.
   *
   * @param what needs it, for a person
   * @throws Failure if they may not
   */
  void requireControl(String what) {
    if (!hasControl()) {
      throw Failure.usage(
          "%s does things to servers, so it needs a cluster that the bench starts, or one that you have started by topology up on this machine"
              .formatted(what));
    }
  }

  /** See {@link #requireControl}. */
  boolean hasControl() {
    return url == null ? !servers.existing : ClusterSource.isOwn(servers.existingOptions.url(url));
  }

  /**
   * Where the cluster comes from.
   *
   * @param topology what {@link #topology} has given
   * @param start how a testbed is started
   */
  ClusterSource source(@Nullable Topology topology, UnaryOperator<Testbed.Builder> start) {
    return topology == null
        ? ClusterSource.at(servers.existingOptions.url(Objects.requireNonNull(url)), overwrite)
        : ClusterSource.testbed(
            start.apply(servers.testbed(topology)),
            servers.existing ? servers.existingOptions::application : open -> open);
  }
}
