package dev.onehop.cli.bench;

import dev.onehop.cli.Failure;
import dev.onehop.cli.bench.Cluster.Evidence;
import dev.onehop.cli.results.CpuPerOperation;
import dev.onehop.cli.results.HdrLogs;
import dev.onehop.cli.results.LatencySummary;
import dev.onehop.cli.results.Point;
import dev.onehop.cli.results.TopologyFacts;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Measures points: runs YCSB, reads what it left behind and puts the servers' evidence to it. */
final class PointRunner {

  private static final Duration GRACE = Duration.ofMinutes(1);
  private static final Duration LEAST_CONNECTING = Duration.ofMillis(500);
  private static final int MOST_ATTEMPTS = 3;

  /** What a small machine can do where no distance limits it. */
  private static final double LOCAL_PER_SECOND = 10_000;

  private static final double SAMPLED_PER_SECOND = 50;
  private static final double SAMPLED_PER_POINT = 10_000;

  private final BenchPlan plan;
  private final Workload workload;
  private final Cluster cluster;
  private final YcsbCommand ycsb;
  private final Progress progress;
  private final Path out;
  private @Nullable YcsbProcess running;
  private boolean stopped;
  private Duration connecting = Duration.ofSeconds(1);

  PointRunner(
      BenchPlan plan,
      Workload workload,
      Cluster cluster,
      YcsbCommand ycsb,
      Progress progress,
      Path out) {
    this.plan = plan;
    this.workload = workload;
    this.cluster = cluster;
    this.ycsb = ycsb;
    this.progress = progress;
    this.out = out;
  }

  /** Loads all documents; a failed insert is a failed run. */
  void load() throws IOException, InterruptedException {
    Path folder = Files.createDirectories(out.resolve("load"));
    YcsbOutput output =
        run(ycsb.load(folder), folder, Duration.ofMinutes(2).plusMillis(plan.records()));
    if (output.errors() > 0) {
      throw Failure.run("loading failed: " + output.failures() + "; see " + folder, null);
    }
  }

  /**
   * Measures one point. If connecting took so long, on a busy machine, that less than half of the
   * time to be measured was left, it is measured again with more time to connect.
   */
  Point measure(PointPlan point, Duration expected) throws IOException, InterruptedException {
    Path folder = Files.createDirectories(out.resolve(point.folder()));
    for (int attempt = 1; ; attempt++) {
      Point measured = attempt(point, folder, expected);
      if (learn(measured.seconds()) || attempt == MOST_ATTEMPTS) {
        if (measured.operations() == 0) {
          throw Failure.run("no operation was measured; YCSB's output is in " + folder, null);
        }
        return measured;
      }
      progress.note(
          "note: connecting took too long for "
              + point.title()
              + "; measuring it again with "
              + connecting.toSeconds()
              + " s for that");
    }
  }

  private Point attempt(PointPlan point, Path folder, Duration expected)
      throws IOException, InterruptedException {
    List<String> command =
        ycsb.point(point, folder, plan.warmup(), plan.operations(), plan.duration(), connecting);
    try (Cluster.Watch watch = cluster.watch(workload.collection(), sampleRate(point, expected));
        CpuWatch cpu = new CpuWatch(cluster::cpuTimes, this::clientCpuTime)) {
      YcsbOutput output = run(command, folder, expected.multipliedBy(3).plus(GRACE));
      RunSummary summary = summary(folder);
      Evidence evidence =
          watch.evidence(summary.firstOperationNanos(), summary.lastOperationNanos());
      return point(point, folder, output, summary, evidence, cpu.perOperation(summary));
    }
  }

  /** Learns how long connecting takes; false if it left too little time to measure. */
  private boolean learn(double measuredSeconds) {
    Duration asked = plan.duration();
    if (asked == null) {
      return true;
    }
    long measured = Math.round(measuredSeconds * 1000);
    if (measured < asked.toMillis() / 2) {
      connecting = connecting.multipliedBy(3);
      return false;
    }
    long all = YcsbCommand.executionSeconds(plan.warmup(), asked, connecting) * 1000;
    long took = all - plan.warmup().toMillis() - measured;
    connecting = Duration.ofMillis(Math.max(LEAST_CONNECTING.toMillis(), took));
    return true;
  }

  private YcsbOutput run(List<String> command, Path folder, Duration atMost)
      throws IOException, InterruptedException {
    YcsbProcess process;
    synchronized (this) {
      if (stopped) {
        throw Failure.interrupted();
      }
      process = YcsbProcess.start(command, folder, this::show);
      running = process;
    }
    return process.await(atMost);
  }

  private @Nullable Duration clientCpuTime() {
    YcsbProcess process;
    synchronized (this) {
      process = running;
    }
    return process == null ? null : process.cpuTime();
  }

  private void show(StatusLine status) {
    if (status.operations() > 0) {
      progress.state(
          String.format(
              Locale.ROOT, "%,d operations, %,.0f/s", status.operations(), status.currentRate()));
    }
  }

  /** Stops what runs and lets nothing more start. Callable from any thread. */
  synchronized void stop() {
    stopped = true;
    if (running != null) {
      running.stop();
    }
  }

  /**
   * The fraction of operations that is looked at closely: enough to tell to a percent or two who
   * sent them, few enough not to be felt, and not to fill the servers' logs in a long point.
   */
  private double sampleRate(PointPlan point, Duration expected) {
    Double bound =
        ClosedLoop.operationsPerSecond(point.threads(), meanShardRoundTripMillis(cluster));
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
      @Nullable CpuPerOperation cpu) {
    Map<String, Double> roundTrips = shardRoundTrips(cluster);
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
        ClosedLoop.operationsPerSecond(point.threads(), roundTrip),
        point.mode().throughOneRouter()
            ? ClosedLoop.operationsPerSecond(throughPool, roundTrip)
            : null,
        roundTrip,
        evidence.share(),
        point.mode().withoutRouter() ? null : evidence.besideOwner(),
        evidence.sample(),
        cpu,
        summary.routes() == null ? Map.of() : summary.routes(),
        failures,
        point.folder(),
        latencies.get("READ"),
        latencies.get("UPDATE"),
        latencies.get("INSERT"),
        latencies.get("SCAN"),
        latencies.get("READ-MODIFY-WRITE"));
  }

  /** The measured round trip from the client to each shard's primary. */
  static Map<String, Double> shardRoundTrips(Cluster cluster) {
    TopologyFacts topology = cluster.topology();
    Map<String, Double> roundTrips = new HashMap<>();
    cluster
        .shardHosts()
        .forEach(
            (shard, host) -> {
              Double measured = topology.measuredFromClient(host);
              if (measured != null) {
                roundTrips.put(shard, measured);
              } else if (host.equals(topology.client())) {
                roundTrips.put(shard, 0.0);
              }
            });
    return roundTrips;
  }

  /** The mean of {@link #shardRoundTrips}, each shard counting alike. */
  static double meanShardRoundTripMillis(Cluster cluster) {
    return shardRoundTrips(cluster).values().stream()
        .mapToDouble(Double::doubleValue)
        .average()
        .orElse(0);
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
