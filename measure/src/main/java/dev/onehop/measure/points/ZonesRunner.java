package dev.onehop.measure.points;

import dev.onehop.measure.frame.BenchCluster;
import dev.onehop.measure.results.ShardLatencies;
import dev.onehop.measure.results.ZonesResult;
import dev.onehop.measure.results.ZonesResult.Crossed;
import dev.onehop.measure.results.ZonesResult.Line;
import dev.onehop.resync.ClusterUrl;
import dev.onehop.resync.Failure;
import dev.onehop.testbed.evidence.Traffic;
import dev.onehop.testbed.evidence.Traffic.Flow;
import dev.onehop.testbed.evidence.Traffic.Party;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Predicate;

/** Runs the scenario {@code zones}. */
final class ZonesRunner implements ScenarioRun {
  private static final Duration MOST_CONNECTING = Duration.ofMinutes(2);
  private static final Duration DRAIN = Duration.ofSeconds(45);

  private final ScenarioPlan plan;
  private final ZonesPlan zones;
  private final List<ZonesPlan.Way> ways;
  private final BenchCluster cluster;
  private final Surroundings around;
  private final List<Line> lines = new CopyOnWriteArrayList<>();

  ZonesRunner(ScenarioPlan plan, List<Mode> modes, BenchCluster cluster, Surroundings around) {
    this.plan = plan;
    this.zones = Objects.requireNonNull(plan.zones());
    this.ways = zones.ways(modes);
    this.cluster = cluster;
    this.around = around;
  }

  @Override
  public List<String> titles() {
    return ways.stream().map(ZonesPlan.Way::title).toList();
  }

  @Override
  public void addTo(Findings findings) {
    findings.zones.add(
        new ZonesResult(plan.rate(), counted(), List.copyOf(lines)));
  }

  private double counted() {
    return plan.to().minus(plan.from()).toMillis() / 1000.0;
  }

  @Override
  public void run(int index) throws IOException, InterruptedException {
    ZonesPlan.Way way = ways.get(index);
    Path folder = Files.createDirectories(around.out().resolve(way.folder()));
    List<String> command =
        new ArrayList<>(around.ycsb().scenario(way.point(), folder, plan, url(way)));
    double reads = way.reads() ? 1 : 0.5;
    for (String property :
        List.of(
            "readproportion=" + reads,
            "updateproportion=" + (1 - reads),
            "insertproportion=0",
            "scanproportion=0",
            "readmodifywriteproportion=0")) {
      command.addAll(List.of("-p", property));
    }
    YcsbRunner.Issuing issuing =
        around
            .runner()
            .issuing(
                folder,
                command,
                // Before it has connected: a JVM takes longer than that to start.
                process ->
                    process
                        .pids()
                        .forEach(pid -> cluster.place(pid, cluster.application(way.zone()))),
                plan.warmup().plus(MOST_CONNECTING));
    issuing.sleepUntil(plan.from());
    Traffic before = cluster.traffic();
    issuing.sleepUntil(plan.to());
    Traffic crossed = cluster.traffic().since(before);
    YcsbOutput output = issuing.await(plan.duration().minus(plan.to()).plus(DRAIN));
    lines.add(line(way, folder, crossed, output));
  }

  /** Every client knows every mongos. */
  private String url(ZonesPlan.Way way) {
    String preferred = "";
    if (way.preferred()) {
      List<String> texts = new ArrayList<>();
      for (Map.Entry<String, List<String>> zone : cluster.zones().entrySet()) {
        String text = zone.getKey() + "=" + String.join("|", zone.getValue());
        texts.add(zone.getKey().equals(way.zone()) ? 0 : texts.size(), text);
      }
      preferred = "&onehop.preferredZones=" + String.join(",", texts);
    }
    return "mongodb://%s/%s?w=1%s%s"
        .formatted(
            String.join(",", cluster.routers()), ClusterUrl.DATABASE, way.options(), preferred);
  }

  private Line line(ZonesPlan.Way way, Path folder, Traffic all, YcsbOutput output) {
    ShardLatencies.Phase phase =
        ShardLatencies.read(YcsbCommand.latencies(folder), (int) plan.duration().toSeconds())
            .phase(shard -> true, (int) plan.from().toSeconds(), (int) plan.to().toSeconds());
    // Those that were answered between the two countings, be they late.
    double operations = phase.perSecond() * counted();
    if (operations == 0) {
      throw Failure.run("no operation was answered; YCSB's output is in " + folder, null);
    }
    return new Line(
        way.zone(),
        way.reads(),
        way.point().mode().label(),
        way.variant(),
        way.preferred(),
        Math.round(operations),
        output.errors(),
        phase.latency(),
        crossed(all, operations),
        way.folder());
  }

  /** What crossed zones, per operation. */
  static Crossed crossed(Traffic traffic, double operations) {
    Predicate<Flow> client = flow -> flow.crosses() && flow.touches(Party.CLIENT);
    Predicate<Flow> withRouter = client.and(flow -> flow.touches(Party.ROUTER));
    Predicate<Flow> routers =
        flow -> flow.crosses() && flow.isOfOperations() && !flow.touches(Party.CLIENT);
    return new Crossed(
        traffic.sum(withRouter) / operations,
        traffic.sum(client.and(withRouter.negate())) / operations,
        traffic.sum(routers) / operations,
        traffic.sum(flow -> flow.crosses() && !flow.isOfOperations()) / operations);
  }
}
