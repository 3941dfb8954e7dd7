package dev.onehop.measure.points;

import dev.onehop.measure.frame.BenchCluster;
import dev.onehop.measure.results.FleetResult;
import dev.onehop.measure.results.FleetResult.Line;
import dev.onehop.measure.results.HdrLogs;
import dev.onehop.measure.results.LatencySummary;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;
import org.HdrHistogram.Histogram;

/**
 * Runs many instances of an application against the cluster, one way to reach it after the other,
 * and looks at what they occupy at the servers. An instance issues as many operations at once as
 * the driver's default pool has connections, and then rests while others do: so pools become as
 * large as they can be, at a rate that a small machine bears.
 */
final class FleetRunner implements ScenarioRun {
  private static final int MOST_PROCESSES = 5;
  private static final Duration FOR_CONNECTING = Duration.ofMinutes(3);
  private static final Duration DRAIN = Duration.ofSeconds(60);

  private final ScenarioPlan plan;
  private final List<PointPlan> ways;
  private final int clients;
  private final BenchCluster cluster;
  private final Surroundings around;
  private final List<Line> lines = new CopyOnWriteArrayList<>();

  FleetRunner(
      ScenarioPlan plan, List<Mode> modes, int clients, BenchCluster cluster, Surroundings around) {
    this.plan = plan;
    this.ways = inOrder(plan.contenders(modes));
    this.clients = clients;
    this.cluster = cluster;
    this.around = around;
  }

  /**
   * The order in which ways are measured: servers don't give back memory, so those that need fewer
   * sockets come first, and what is seen to grow is their own.
   */
  private static List<PointPlan> inOrder(List<PointPlan> ways) {
    return ways.stream().sorted(Comparator.comparingInt(PointPlan::connections)).toList();
  }

  private int processes() {
    return Math.min(MOST_PROCESSES, clients);
  }

  @Override
  public List<String> titles() {
    return ways.stream().map(PointPlan::title).toList();
  }

  @Override
  public void addTo(Findings findings) {
    findings.fleets.add(
        new FleetResult(
            clients,
            processes(),
            plan.rate(),
            ScenarioPlan.POOL,
            (int) plan.duration().toSeconds(),
            List.copyOf(lines)));
  }

  @Override
  public void run(int index) throws IOException, InterruptedException {
    PointPlan way = ways.get(index);
    Path folder = Files.createDirectories(around.out().resolve(way.folder()));
    Map<Path, List<String>> commands = new LinkedHashMap<>();
    ClientPlan together = new ClientPlan(processes(), null, UUID.randomUUID().toString());
    for (int client = 0; client < together.count(); client++) {
      Path own = Files.createDirectories(MergedClients.folder(folder, client));
      commands.put(own, command(way, own, together, client));
    }
    AtomicLong began = new AtomicLong();
    try (UsageWatch usage = new UsageWatch(cluster::serverUsage)) {
      YcsbProcesses processes =
          around.runner().start(commands, status -> began.compareAndSet(0, System.nanoTime()));
      var unused =
          processes.await(
              plan.warmup().plus(FOR_CONNECTING).plus(plan.duration()).plus(DRAIN), true);
      long from = began.get();
      lines.add(
          line(
              way,
              List.copyOf(commands.keySet()),
              usage.servers(from, from + plan.duration().toNanos())));
    }
  }

  private List<String> command(PointPlan way, Path folder, ClientPlan together, int index) {
    int instances = clients * (index + 1) / together.count() - clients * index / together.count();
    return around
        .ycsb()
        .instances(
            around
                .ycsb()
                .asClient(
                    around.ycsb().scenario(way, folder, plan, null),
                    together,
                    index,
                    way.folder(),
                    null),
            instances,
            plan.rate() * instances / clients);
  }

  private static Line line(PointPlan way, List<Path> folders, List<FleetResult.Server> servers)
      throws IOException {
    Histogram all = new Histogram(3);
    long intended = 0;
    long errors = 0;
    double seconds = 0;
    for (Path folder : folders) {
      all.add(HdrLogs.tagged(YcsbCommand.latencies(folder), "intended"));
      RunSummary summary = RunSummary.read(YcsbCommand.summary(folder));
      intended += summary.operations();
      errors += summary.errors();
      seconds = Math.max(seconds, summary.measuredSeconds());
    }
    return new Line(
        way.mode().label(),
        way.connections(),
        way.pipelining(),
        intended,
        intended - errors,
        errors,
        seconds == 0 ? 0 : Math.round((intended - errors) * 10.0 / seconds) / 10.0,
        LatencySummary.of(all),
        servers,
        way.folder());
  }
}
