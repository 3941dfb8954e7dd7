package dev.onehop.cli;

import dev.onehop.measure.frame.ClusterSource;
import dev.onehop.resync.Failure;
import dev.onehop.testbed.Testbed;
import dev.onehop.testbed.topology.Topology;
import java.util.Objects;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** The options of the measured cluster: either a cluster to start or a cluster of the user. */
@HelpGroup("Cluster")
final class ClusterOptions {

  @Spec(Spec.Target.MIXEE)
  private CommandSpec command;

  @Mixin ServerOptions servers = new ServerOptions();

  @Option(
      names = "--url",
      paramLabel = "URL",
      description =
          "Use your own cluster: the URL of its mongoses, with a user if the cluster has access"
              + " control. The user's password comes from ONEHOP_PASSWORD. --tls-ca also applies to"
              + " this cluster.")
  @Nullable String url;

  @Option(
      names = "--overwrite",
      description = "With --url: delete the documents that the collection already has.")
  boolean overwrite;

  /**
   * The topology to start; null for a cluster of the user.
   *
   * @throws Failure if options are wrong or contradict each other, or the named topology does not
   *     exist
   */
  @Nullable Topology topology() {
    servers.check();
    if (url == null) {
      Refuse.when(overwrite, "--overwrite requires --url");
      return servers.topology(command);
    }
    Refuse.options(
        true,
        command,
        " and --url exclude each other",
        "--topology",
        "--mongod",
        "--mongos",
        "--fcv",
        "--existing",
        "--key-file",
        "--noop");
    return null;
  }

  /**
   * Checks that the command may stop servers of the cluster. It may if the command starts the
   * servers itself. It also may if this user has started the URL's cluster by {@code topology up}
   * on this machine.
   *
   * @param what the name of the measurement that stops or slows servers
   * @throws Failure if servers may not be stopped
   */
  void requireControl(String what) {
    Refuse.when(
        !hasControl(),
        what
            + " stops or slows servers, so it needs a cluster that the bench starts, or a cluster"
            + " that was started on this machine by topology up");
  }

  /** Whether servers of the cluster may be stopped, see {@link #requireControl}. */
  boolean hasControl() {
    return url == null ? !servers.existing : ClusterSource.isOwn(servers.existingOptions.url(url));
  }

  /**
   * The source of the measured cluster: the cluster of the URL, or a testbed to start.
   *
   * @param topology the result of {@link #topology}
   * @param start adds settings to the testbed before its start
   */
  ClusterSource source(@Nullable Topology topology, UnaryOperator<Testbed.Builder> start) {
    return topology == null
        ? ClusterSource.at(servers.existingOptions.url(Objects.requireNonNull(url)), overwrite)
        : ClusterSource.testbed(
            !servers.existing,
            start.apply(servers.testbed(topology)),
            servers.existing ? servers.existingOptions::application : open -> open);
  }
}
