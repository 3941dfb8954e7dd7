package dev.onehop.cli;

import dev.onehop.testbed.RunningTestbed;
import java.util.List;
import picocli.CommandLine.Command;

/** {@code onehop topology status}. */
@Command(
    name = "status",
    header = "Show the running topologies with their processes.",
    footer = {
      "Example:",
      "  onehop topology status",
      "",
      "Exit code: 0 = a topology is running, 1 = none is."
    })
final class TopologyStatusCommand extends Subcommand {

  @Override
  public Integer call() {
    List<RunningTestbed> runs = RunningTestbed.all();
    runs.forEach(this::describe);
    if (runs.isEmpty()) {
      out().println("No topology is running.");
    }
    return runs.stream().anyMatch(RunningTestbed::isOwned) ? 0 : 1;
  }

  private void describe(RunningTestbed run) {
    String state = run.isReady() ? "running" : "starting";
    String owner = run.isOwned() ? state + ", process " + run.ownerPid() : "LEFT OVER, killed";
    out()
        .println(run.topologyName() + ": " + owner + (run.url().isEmpty() ? "" : ", " + run.url()));
    run.servers()
        .forEach(
            server ->
                out()
                    .printf(
                        "  %-24s %-22s pid %-8d %s%n",
                        server.name(),
                        server.address(),
                        server.pid(),
                        server.alive() ? "up" : "DOWN"));
  }
}
