package dev.onehop.cli.bench;

import dev.onehop.cli.Failure;
import dev.onehop.cli.bench.Cluster.Evidence;
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

  private static final Duration GRACE = Duration.ofSeconds(60);
  private static final double LOCAL_PER_SECOND = 10_000;

  private final BenchPlan plan;
  private final Workload workload;
  private final Cluster cluster;
  private final YcsbCommand ycsb;
  private final Progress progress;
  private final Path out;
  private @Nullable YcsbProcess running;
  private boolean stopped;

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

  /** Measures one point. */
  Point measure(PointPlan point, Duration expected) throws IOException, InterruptedException {
    Path folder = Files.createDirectories(out.resolve(point.folder()));
    List<String> command =
        ycsb.point(point, folder, plan.warmup(), plan.operations(), plan.duration());
    try (Cluster.Watch watch = cluster.watch(workload.collection(), mostPerSecond(point))) {
      YcsbOutput output = run(command, folder, expected.multipliedBy(3).plus(GRACE));
      RunSummary summary = summary(folder);
      Evidence evidence =
          watch.evidence(summary.firstOperationNanos(), summary.lastOperationNanos());
      return point(point, folder, output, summary, evidence);
    }
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

  /** The closed loop's bound, or what a small machine can do if that is less. */
  private double mostPerSecond(PointPlan point) {
    double millis =
        shardRoundTrips(cluster).values().stream().mapToDouble(r -> r).average().orElse(0);
    Double bound = ClosedLoop.operationsPerSecond(point.threads(), millis);
    return bound == null ? LOCAL_PER_SECOND : Math.min(bound, LOCAL_PER_SECOND);
  }

  private static RunSummary summary(Path folder) {
    Path file = YcsbCommand.summary(folder);
    RunSummary summary;
    try {
      summary = RunSummary.read(file);
    } catch (IOException e) {
      String why = YcsbProcess.complaint(folder).map(line -> ": " + line).orElse("");
      throw Failure.run("YCSB did not run to its end" + why + "; its output is in " + folder, e);
    }
    if (summary.operations() == 0 || summary.measuredSeconds() <= 0) {
      throw Failure.run("no operation was measured; YCSB's output is in " + folder, null);
    }
    return summary;
  }

  private Point point(
      PointPlan point, Path folder, YcsbOutput output, RunSummary summary, Evidence evidence) {
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
        false,
        summary.measuredSeconds(),
        summary.operations(),
        errors,
        summary.operations() / summary.measuredSeconds(),
        ClosedLoop.operationsPerSecond(point.threads(), roundTrip),
        point.mode().throughOneRouter()
            ? ClosedLoop.operationsPerSecond(throughPool, roundTrip)
            : null,
        roundTrip,
        evidence.share(),
        evidence.besideOwner(),
        evidence.sample(),
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
