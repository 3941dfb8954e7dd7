package dev.onehop.measure.points;

import dev.onehop.measure.points.ScenarioRun.Surroundings;
import dev.onehop.measure.frame.BenchCluster;
import dev.onehop.measure.frame.BenchCluster.Evidence;
import dev.onehop.measure.results.ClientRun;
import dev.onehop.measure.results.Conditions;
import dev.onehop.measure.results.CpuPerOperation;
import dev.onehop.measure.results.HdrLogs;
import dev.onehop.measure.results.LatencySummary;
import dev.onehop.measure.results.Point;
import dev.onehop.measure.results.ScenarioEntry;
import dev.onehop.measure.results.ShardLatencies;
import dev.onehop.resync.Failure;
import dev.onehop.resync.Progress;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;

/** Measures points: runs YCSB, reads what it left behind and puts the servers' evidence to it. */
final class PointRunner {

  private static final Duration GRACE = Duration.ofMinutes(1);

  /** How long one client waits for others, and a little more. */
  private static final Duration FOR_OTHERS = Duration.ofMinutes(11);

  /** What a small machine can do where no distance limits it. */
  private static final double LOCAL_PER_SECOND = 10_000;

  private static final double SAMPLED_PER_SECOND = 50;
  private static final double SAMPLED_PER_POINT = 10_000;

  private final BenchPlan plan;
  private final ClientPlan clients;
  private final Workload workload;
  private final BenchCluster cluster;
  private final YcsbCommand ycsb;
  private final YcsbRunner runner;
  private final Progress progress;
  private final Path out;
  private final List<ClientRun> clientRuns = new CopyOnWriteArrayList<>();

  PointRunner(
      BenchPlan plan,
      ClientPlan clients,
      Workload workload,
      BenchCluster cluster,
      Surroundings around,
      Progress progress) {
    this.plan = plan;
    this.clients = clients;
    this.workload = workload;
    this.cluster = cluster;
    this.ycsb = around.ycsb();
    this.runner = around.runner();
    this.progress = progress;
    this.out = around.out();
  }

  /** Loads all documents; a failed insert is a failed run. */
  void load() throws IOException, InterruptedException {
    Path folder = Files.createDirectories(out.resolve("load"));
    List<String> command = ycsb.load(folder);
    Integer part = clients.index();
    Duration atMost = Duration.ofMinutes(2).plusMillis(plan.records());
    YcsbOutput output =
        part == null
            ? run(Map.of(folder, command), atMost, false)
            : run(
                Map.of(folder, ycsb.loadPart(command, clients, part)),
                atMost.plus(FOR_OTHERS),
                false);
    if (output.errors() > 0) {
      throw Failure.run("loading failed: " + output.failures() + "; see " + folder, null);
    }
  }

  /** Measures one point of a closed loop. */
  Point measure(PointPlan point, Duration expected) throws IOException, InterruptedException {
    Path folder = Files.createDirectories(out.resolve(point.folder()));
    List<String> command = ycsb.point(point, folder, plan, url(point));
    try (BenchCluster.Watch watch =
            cluster.watch(workload.collection(), sampleRate(point, expected));
        CpuWatch cpu = new CpuWatch(cluster, runner::running)) {
      YcsbOutput output = run(point, folder, command, expected.multipliedBy(3).plus(GRACE));
      RunSummary summary = summary(folder);
      if (summary.operations() == 0) {
        throw Failure.run("no operation was measured; YCSB's output is in " + folder, null);
      }
      Evidence evidence =
          watch.evidence(summary.firstOperationNanos(), summary.lastOperationNanos());
      return point(
          point,
          folder,
          output,
          summary,
          evidence,
          cpu.perOperation(summary),
          cpu.conditions(summary));
    }
  }

  /** Runs the point's client, or all of them and adds up what they left. */
  private YcsbOutput run(PointPlan point, Path folder, List<String> command, Duration atMost)
      throws IOException, InterruptedException {
    if (clients.isOne()) {
      return run(Map.of(folder, command), atMost, false);
    }
    Map<Path, List<String>> commands = new LinkedHashMap<>();
    for (int index : clients.here()) {
      Path own = clients.isPart() ? folder : MergedClients.folder(folder, index);
      List<String> its = ycsb.into(command, folder, own);
      commands.put(own, ycsb.asClient(its, clients, index, point.folder(), plan.operations()));
    }
    YcsbOutput output = run(commands, atMost.plus(FOR_OTHERS), false);
    if (!clients.isPart()) {
      clientRuns.removeIf(run -> run.folder().equals(point.folder()));
      clientRuns.add(MergedClients.merge(folder, point.folder(), List.copyOf(commands.keySet())));
    }
    return output;
  }

  private YcsbOutput run(Map<Path, List<String>> commands, Duration atMost, boolean mayFail)
      throws IOException, InterruptedException {
    return runner.start(commands, status -> {}).await(atMost, mayFail);
  }

  /** The clients behind the points that this has run, if there were several. */
  List<ClientRun> clientRuns() {
    return List.copyOf(clientRuns);
  }

  /** Clients that are to know all mongoses have them in their URL; null for the cluster's. */
  private @Nullable String url(PointPlan point) {
    if (!point.mode().knowsAllRouters()) {
      return null;
    }
    String all = cluster.allRoutersUrl();
    return point.mode() == Mode.LOCAL_THRESHOLD_0 ? all + "&localThresholdMS=0" : all;
  }

  /**
   * Issues operations at a fixed rate.
   *
   * @param scenario what the entry is called
   * @param drain how long answers are waited for at the end
   */
  ScenarioEntry measureRate(PointPlan point, String scenario, Duration drain)
      throws IOException, InterruptedException {
    Path folder = Files.createDirectories(out.resolve(point.folder()));
    List<String> command = ycsb.rate(point, folder, plan, drain, url(point));
    Duration duration = Objects.requireNonNull(plan.duration());
    try (CpuWatch cpu = new CpuWatch(cluster, runner::running)) {
      var unused =
          run(Map.of(folder, command), plan.warmup().plus(duration).plus(drain).plus(GRACE), true);
      RunSummary summary = summary(folder);
      int seconds = (int) duration.toSeconds();
      ShardLatencies latencies = ShardLatencies.read(YcsbCommand.latencies(folder), seconds);
      ShardLatencies.Phase all = latencies.phase(shard -> true, 0, Integer.MAX_VALUE);
      // What is answered while answers are waited for at the end is not done at the rate.
      double answered = latencies.phase(shard -> true, 0, seconds).perSecond();
      return point.entry(
          scenario,
          Objects.requireNonNull(point.rate()),
          Objects.requireNonNull(plan.rate()).poisson(),
          ScenarioEntry.ALL,
          ScenarioEntry.ALL,
          all.withPerSecond(answered),
          seconds,
          cpu.perOperation(summary),
          cpu.conditions(summary));
    }
  }

  /**
   * The fraction of operations that is looked at closely: enough to tell to a percent or two who
   * sent them, few enough not to be felt, and not to fill the servers' logs in a long point.
   */
  private double sampleRate(PointPlan point, Duration expected) {
    Double bound =
        ClosedLoop.operationsPerSecond(
            point.threads() * clients.count(), cluster.meanShardRoundTripMillis());
    double perSecond = bound == null ? LOCAL_PER_SECOND : Math.min(bound, LOCAL_PER_SECOND);
    double seconds = Math.max(1, expected.toSeconds());
    return Math.min(1, Math.min(SAMPLED_PER_SECOND, SAMPLED_PER_POINT / seconds) / perSecond);
  }

  private static RunSummary summary(Path folder) {
    Path file = YcsbCommand.summary(folder);
    try {
      return RunSummary.read(file);
    } catch (IOException e) {
      String why = YcsbProcess.complaint(folder).map(line -> ": " + line).orElse("");
      throw Failure.run("YCSB did not run to its end" + why + "; its output is in " + folder, e);
    }
  }

  private Point point(
      PointPlan point,
      Path folder,
      YcsbOutput output,
      RunSummary summary,
      Evidence evidence,
      @Nullable CpuPerOperation cpu,
      Conditions conditions) {
    Map<String, Double> roundTrips = cluster.shardRoundTrips();
    Double roundTrip = ClosedLoop.meanRoundTripMillis(evidence.share(), roundTrips);
    long errors = Math.max(summary.errors(), output.errors());
    Map<String, Long> failures = new TreeMap<>(output.failures());
    if (errors > output.errors()) {
      failures.merge("by the binding's count", errors - output.errors(), Long::sum);
    }
    Map<String, LatencySummary> latencies = latencies(folder, summary, output);
    int throughPool = Math.min(point.threads(), point.connections());
    return new Point(
        point.mode().label(),
        point.threads(),
        point.connections(),
        point.pipelining(),
        summary.measuredSeconds(),
        summary.operations(),
        errors,
        summary.operations() == 0 ? 0 : summary.operations() / summary.measuredSeconds(),
        List.of(),
        ClosedLoop.operationsPerSecond(point.threads() * clients.count(), roundTrip),
        point.mode().throughOneRouter()
            ? ClosedLoop.operationsPerSecond(throughPool * clients.count(), roundTrip)
            : null,
        roundTrip,
        evidence.share(),
        point.mode().withoutRouter() ? null : evidence.besideOwner(),
        evidence.sample(),
        cpu,
        conditions,
        summary.routes() == null ? Map.of() : summary.routes(),
        failures,
        point.folder(),
        latencies.get("READ"),
        latencies.get("UPDATE"),
        latencies.get("INSERT"),
        latencies.get("SCAN"),
        latencies.get("READ-MODIFY-WRITE"));
  }

  private Map<String, LatencySummary> latencies(
      Path folder, RunSummary summary, YcsbOutput output) {
    Map<String, LatencySummary> latencies = new HashMap<>();
    long measured = output.errors();
    for (String operation : List.of("READ", "UPDATE", "INSERT", "SCAN", "READ-MODIFY-WRITE")) {
      var histogram = HdrLogs.merged(folder, operation);
      if (histogram.isPresent()) {
        latencies.put(operation, LatencySummary.of(histogram.get()));
        measured += operation.startsWith("READ-") ? 0 : histogram.get().getTotalCount();
      }
    }
    if (measured != summary.operations()) {
      progress.note(
          "note: the HdrHistogram logs hold "
              + measured
              + " of "
              + summary.operations()
              + " operations in "
              + folder);
    }
    return latencies;
  }
}
