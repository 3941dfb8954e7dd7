package dev.onehop.measure.copying;

import dev.onehop.measure.copying.CopyCell.Scene;
import dev.onehop.measure.frame.Bench;
import dev.onehop.measure.frame.Session;
import dev.onehop.measure.results.CopyBenchResults;
import dev.onehop.measure.results.CopyBenchRun;
import dev.onehop.measure.results.RunFacts;
import dev.onehop.measure.results.ServerFacts;
import dev.onehop.measure.results.TopologyFacts;
import dev.onehop.measure.results.TopologyFacts.HostFacts;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Starts clusters and replica sets and measures copies between them. OneHop and another tool copy
 * in turn. If the plan has no program of another tool, the other tool is the plain driver through
 * one mongos.
 */
public final class CopyBench implements Bench<CopyCell, CopyBenchRun, CopyBenchResults> {
  private static final String WORKLOAD =
      "documents in YCSB's format with ten fields of 100 bytes; 70 inserts to 30 zipfian updates";

  private final CopyBenchPlan plan;
  private final CopyEnds ends;
  private final Map<CopyTool, ToolProcess> tools = new EnumMap<>(CopyTool.class);
  private final Map<String, HostFacts> hosts = new LinkedHashMap<>();
  private @Nullable ClusterPair pair;
  private @Nullable CopyScene scene;
  private @Nullable ServerFacts server;

  /** Creates a bench without servers. Servers start with the first measurement. */
  public CopyBench(CopyBenchPlan plan) {
    this.plan = plan;
    this.ends = new CopyEnds(plan);
  }

  @Override
  public void prepare(Session session) {
    for (ClusterPair each : plan.pairs()) {
      for (CopyTool rival : plan.rivals().keySet()) {
        if (!rival.supports(each)) {
          session.progress().note("%s does not copy %s".formatted(rival.label(), each.label()));
        }
      }
    }
  }

  @Override
  public List<CopyCell> cells() {
    return plan.cells();
  }

  @Override
  public CopyBenchRun measure(CopyCell cell, Session session)
      throws IOException, InterruptedException {
    if (scene == null || !scene.is(cell.scene())) {
      closeScene();
      scene = open(cell.scene(), session);
    }
    return scene.measure(cell);
  }

  private CopyScene open(Scene next, Session session) throws IOException, InterruptedException {
    if (next.pair() != pair) {
      closeTools();
      pair = next.pair();
      ends.start(pair, session);
      know(ends.from(pair), "source");
      know(ends.to(pair), "destination");
    }
    Path logs = session.folder().resolve("logs").resolve(next.pair().option());
    for (CopyTool tool : next.tools()) {
      if (!tools.containsKey(tool)) {
        tools.put(tool, start(tool, next.pair(), logs.resolve(tool.label())));
      }
    }
    CopyScene opened =
        new CopyScene(
            plan, next, ends.from(next.pair()), ends.to(next.pair()), tools, session.progress());
    opened.open();
    return opened;
  }

  private ToolProcess start(CopyTool tool, ClusterPair of, Path logs) throws IOException {
    CopyEnd source = ends.from(of);
    CopyEnd destination = ends.to(of);
    Path program = plan.rivals().get(tool);
    return program == null
        ? JvmTool.start(tool, source, destination, plan, logs)
        : RivalTool.of(tool, program, source, destination, Files.createDirectories(logs));
  }

  private void know(CopyEnd end, String name) {
    end.hosts(name).forEach(host -> hosts.put(host.name(), host));
    if (server == null || server.router().kind().equals(ServerFacts.Router.NONE)) {
      server = end.facts();
    }
  }

  @Override
  public @Nullable CopyBenchResults results(
      List<Measured<CopyCell, CopyBenchRun>> measured, Session session) {
    List<CopyBenchRun> runs =
        measured.stream().filter(each -> each.cell().isMeasured()).map(Measured::point).toList();
    if (server == null || runs.isEmpty()) {
      return null;
    }
    Double share = plan.routerCpus();
    RunFacts.Load load =
        new RunFacts.Load(
            plan.records(),
            WORKLOAD,
            Map.of(),
            null,
            List.of(),
            plan.rounds(),
            1,
            share == null ? null : "each router limited to " + share + " of a processor",
            null);
    return new CopyBenchResults(
        session.envelope(
            (int) cells().stream().filter(CopyCell::isMeasured).count(),
            load,
            TopologyFacts.here("from one cluster to another", List.copyOf(hosts.values())),
            server),
        runs);
  }

  private void closeScene() {
    if (scene != null) {
      scene.close();
      scene = null;
    }
  }

  private void closeTools() {
    tools.values().forEach(ToolProcess::close);
    tools.clear();
  }

  /** Ends the tools and the servers. The data of the scene ends with the servers. */
  @Override
  public void close() {
    closeTools();
    ends.close();
  }
}
