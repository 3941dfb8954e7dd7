package dev.onehop.cli;

import dev.onehop.cli.cluster.TestbedRun;
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
  public Integer call() throws InterruptedException {
    PrintWriter out = spec.commandLine().getOut();
    List<TestbedRun> runs =
        TestbedRun.all().stream()
            .filter(run -> topology == null || run.topology().equals(topology))
            .toList();
    for (TestbedRun run : runs) {
      run.stop();
      out.println("Stopped " + run.topology() + ".");
    }
    if (runs.isEmpty()) {
      out.println("Nothing to stop.");
    }
    out.flush();
    return 0;
  }
}
