package dev.onehop.cli;

import dev.onehop.cli.cluster.TestbedRun;
import java.io.PrintWriter;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code onehop topology status}. */
@Command(
    name = "status",
    mixinStandardHelpOptions = true,
    versionProvider = Version.class,
    header = "Show which topologies run, with their processes.",
    footer = {
      "",
      "Example:",
      "  onehop topology status",
      "",
      "Exit code: 0 one runs, 1 none does."
    })
final class TopologyStatusCommand implements Callable<Integer> {

  @Spec private CommandSpec spec;

  @Override
  public Integer call() {
    PrintWriter out = spec.commandLine().getOut();
    List<TestbedRun> runs = TestbedRun.all();
    runs.forEach(run -> out.print(run.describe()));
    if (runs.isEmpty()) {
      out.println("No topology runs.");
    }
    out.flush();
    return runs.stream().anyMatch(TestbedRun::isOwned) ? 0 : 1;
  }
}
