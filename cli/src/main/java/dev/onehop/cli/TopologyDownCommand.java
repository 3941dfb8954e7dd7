package dev.onehop.cli;

import dev.onehop.resync.Failure;
import dev.onehop.testbed.RunningTestbed;
import dev.onehop.testbed.TestbedException;
import java.io.PrintWriter;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code onehop topology down}. */
@Command(
    name = "down",
    mixinStandardHelpOptions = true,
    versionProvider = Version.class,
    header = "Stop running topologies, and what a killed run left behind.",
    footer = {"", "Example:", "  onehop topology down --topology us-2014"})
final class TopologyDownCommand implements Callable<Integer> {

  @Spec private CommandSpec spec;

  @Option(names = "--topology", paramLabel = "NAME", description = "Only this one. Default: all.")
  private @Nullable String topology;

  @Override
  public Integer call() {
    PrintWriter out = spec.commandLine().getOut();
    List<RunningTestbed> runs =
        RunningTestbed.all().stream()
            .filter(run -> topology == null || run.topologyName().equals(topology))
            .toList();
    for (RunningTestbed run : runs) {
      try {
        run.stop();
      } catch (TestbedException e) {
        throw Failure.run(Failure.firstLine(e), e);
      }
      out.println("Stopped " + run.topologyName() + ".");
    }
    if (runs.isEmpty()) {
      out.println("Nothing to stop.");
    }
    out.flush();
    return 0;
  }
}
