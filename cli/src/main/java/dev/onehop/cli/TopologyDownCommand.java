package dev.onehop.cli;

import dev.onehop.testbed.RunningTestbed;
import java.io.IOException;
import java.nio.file.Files;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code onehop topology down}. */
@Command(
    name = "down",
    header = "Stop a running topology, and remove the remains of killed runs.",
    description = "Without a name, the command stops the topology if only one is running.",
    footer = {"Example:", "  onehop topology down us-2014"})
final class TopologyDownCommand extends Subcommand {

  @ArgGroup private Which which = new Which();

  /** At most one of these may be given. */
  private static final class Which {
    @Parameters(paramLabel = "NAME", description = "The topology to stop.")
    private @Nullable String name;

    @Option(names = "--topology", paramLabel = "NAME", description = "The same as NAME.")
    private @Nullable String topology;

    @Option(names = "--all", description = "Stop all topologies of this user, in all shells.")
    private boolean all;

    private @Nullable String named() {
      return name == null ? topology : name;
    }
  }

  @Override
  public Integer call() throws IOException {
    @Nullable String name = which.named();
    List<RunningTestbed> runs =
        RunningTestbed.all().stream()
            .filter(run -> name == null || run.topologyName().equals(name))
            .toList();
    List<String> running =
        runs.stream()
            .filter(RunningTestbed::isOwned)
            .map(RunningTestbed::topologyName)
            .sorted()
            .toList();
    Refuse.when(
        running.size() > 1 && !which.all,
        "several topologies are running: "
            + String.join(", ", running)
            + "; give a name, or --all");
    for (RunningTestbed run : runs) {
      run.stop();
      Files.deleteIfExists(TopologyUpCommand.log(run.topologyName(), run.ownerPid()));
      out().println("Stopped " + run.topologyName() + ".");
    }
    if (runs.isEmpty()) {
      out().println("Nothing to stop" + (name == null ? "." : ": " + name + " is not running."));
    }
    return 0;
  }
}
