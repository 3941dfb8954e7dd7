package dev.onehop.measure.copying;

import dev.onehop.measure.bench.StandaloneRun;
import dev.onehop.measure.frame.RunContext;
import dev.onehop.measure.results.CopyBenchResults;
import dev.onehop.measure.results.CopyBenchRun;
import dev.onehop.measure.results.RunFacts;
import dev.onehop.measure.results.ServerFacts;
import dev.onehop.measure.results.TopologyFacts;
import dev.onehop.measure.results.TopologyFacts.HostFacts;
import dev.onehop.resync.Progress;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Copies between clusters and replica sets of its own by both ways, one after the other, in turns.
 * Writes {@code results.json} after each copy.
 */
public final class CopyBench extends StandaloneRun<CopyBenchResults> {
  private final CopyBenchPlan plan;
  private final Progress progress;
  private final List<CopyBenchRun> runs = new ArrayList<>(); // guarded by this
  private final Map<String, HostFacts> hosts = new LinkedHashMap<>(); // guarded by this
  private @Nullable ServerFacts server; // guarded by this

  /**
   * Prepares it.
   *
   * @param context what results say besides
   */
  public CopyBench(CopyBenchPlan plan, Progress progress, RunContext context) {
    super(context);
    this.plan = plan;
    this.progress = progress;
  }

  @Override
  public void run() throws IOException, InterruptedException {
    try (Sides sides = new Sides(plan, progress)) {
      for (ClusterPair setup : plan.setups()) {
        sides.start(setup);
        Side source = sides.from(setup);
        Side destination = sides.to(setup);
        know(source, "source");
        know(destination, "destination");
        try (ToolProcesses workers =
            new ToolProcesses(
                source,
                destination,
                plan.quick(),
                context().out().resolve("logs").resolve(setup.option()))) {
          new PairRun(plan, progress, setup, source, destination, workers, this::add).run();
        }
      }
      progress.phase("stopping servers");
    }
  }

  private synchronized void know(Side side, String name) {
    side.hosts(name).forEach(host -> hosts.put(host.name(), host));
    if (server == null || server.router().kind().equals(ServerFacts.Router.NONE)) {
      server = side.facts();
    }
  }

  private synchronized void add(CopyBenchRun run) {
    runs.add(run);
    write();
  }

  private int planned() {
    boolean full = plan.kinds().contains(CopyBenchRun.FULL);
    int ofEach = plan.kinds().size() - (full ? 1 : 0) + (full ? plan.collections().size() : 0);
    return ofEach * plan.setups().size() * CopyTool.values().length * plan.rounds();
  }

  @Override
  public synchronized @Nullable CopyBenchResults results() {
    ServerFacts known = server;
    if (known == null || runs.isEmpty()) {
      return null;
    }
    return new CopyBenchResults(
        new RunFacts(
            context().started(),
            context().command(),
            runs.size() == planned(),
            stopReason(),
            planned(),
            plan.records(),
            "documents as of YCSB, ten fields of 100 bytes; inserts and updates 70 to 30, zipfian",
            Map.of(),
            null,
            List.of(),
            plan.rounds(),
            1,
            plan.routerCpus() == null
                ? null
                : "each router held to " + plan.routerCpus() + " of a processor",
            null),
        new TopologyFacts(
            "from one cluster to another",
            "here",
            List.of("here"),
            new TopologyFacts.RoundTrips(Map.of(), Map.of()),
            List.copyOf(hosts.values())),
        known,
        context().machine(),
        List.copyOf(runs));
  }
}
