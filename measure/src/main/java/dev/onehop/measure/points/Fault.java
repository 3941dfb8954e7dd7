package dev.onehop.measure.points;

import dev.onehop.measure.frame.BenchCluster;
import dev.onehop.measure.frame.Sampler;
import dev.onehop.measure.frame.Sampler.Sample;
import dev.onehop.measure.results.CpuPerOperation;
import dev.onehop.measure.results.ScenarioEntry;
import dev.onehop.measure.results.ShardLatencies;
import dev.onehop.measure.results.Timeline;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Operations at a fixed rate during a fault of the cluster.
 *
 * @param from the time from the first operation to the start of the fault, in whole seconds
 * @param to the time from the first operation to the end of the fault, in whole seconds
 */
record Fault(Scenario scenario, Warmup warmup, Arrivals arrivals, Duration from, Duration to)
    implements OpenLoop {

  /**
   * The fraction of busy processors above which latencies measure the machine more than the client.
   */
  private static final double SATURATED = 0.85;

  private static final Duration MOST_CONNECTING = Duration.ofMinutes(1);

  /** The time to wait for replies and for the end of the process. */
  private static final Duration DRAIN = Duration.ofSeconds(45);

  @Override
  public String folder(PointCell cell) {
    return OpenLoop.super.folder(cell) + "-" + scenario.label();
  }

  @Override
  public String title(PointCell cell) {
    return scenario.label() + ", " + OpenLoop.super.title(cell);
  }

  @Override
  public List<Record> measure(PointCell cell, YcsbClients clients)
      throws IOException, InterruptedException {
    BenchCluster cluster = clients.cluster();
    String where = scenario.where(cluster);
    Path folder = clients.folder(cell.folder());
    YcsbArguments arguments =
        YcsbArguments.openLoop(cell, clients, folder, arrivals).set("onehop.byshard", true);
    if (!scenario.ofShard()) {
      arguments.set(
          "mongodb.url",
          cluster.allRoutersUrl()); // the fault may make a router of the URL unavailable
    }
    List<Sample<Reading>> samples;
    try (YcsbClients.Running running = clients.start(Map.of(folder, arguments));
        Sampler<Reading> sampler = Reading.start(cluster, running)) {
      running.awaitBegin(warmup.most().plus(MOST_CONNECTING));
      ProcStat begun = ProcStat.now();
      running.sleepUntil(from);
      samples = sampler.stop();
      checkBusy(cell, clients, begun);
      scenario.set(cluster, where, true);
      try {
        running.sleepUntil(to);
      } finally {
        scenario.set(cluster, where, false);
      }
      var unused = running.await(arrivals.duration().minus(to).plus(DRAIN), true);
    }
    return results(cell, where, folder, cpu(folder, samples));
  }

  /**
   * Prints a note if the machine was saturated: latencies of a saturated machine do not show the
   * effect of a fault.
   */
  private void checkBusy(PointCell cell, YcsbClients clients, @Nullable ProcStat begun) {
    ProcStat now = ProcStat.now();
    if (begun != null && now != null && now.busySince(begun) > SATURATED) {
      clients
          .progress()
          .note(
              "note: %s: the machine was saturated before the fault (%.0f %% busy), so the latencies mean little; use a rate below %.0f/s"
                  .formatted(cell.title(), 100 * now.busySince(begun), arrivals.perSecond()));
    }
  }

  /**
   * Returns the processor time per operation before the fault; null if the client has no summary.
   */
  private static @Nullable CpuPerOperation cpu(Path folder, List<Sample<Reading>> samples) {
    return Files.exists(RunSummary.file(folder))
        ? Reading.cpuPerOperation(samples, RunSummary.of(folder))
        : null;
  }

  /** A part of the time, from a second to another. */
  private record Phase(String name, int from, int to, @Nullable CpuPerOperation cpu) {}

  private List<Record> results(
      PointCell cell, String where, Path folder, @Nullable CpuPerOperation cpu) {
    int begin = (int) from.toSeconds();
    int end = (int) to.toSeconds();
    ShardLatencies latencies = latencies(folder);
    boolean ofShard = scenario.ofShard();
    Predicate<String> healthy = shard -> !ofShard || !shard.equals(where);
    Map<String, Predicate<String>> groups = new LinkedHashMap<>();
    groups.put(ofShard ? "healthy" : ScenarioEntry.ALL, healthy);
    if (ofShard) {
      groups.put("affected", where::equals);
    }
    List<Phase> phases =
        List.of(
            new Phase("before", ShardLatencies.SETTLING_SECONDS, begin, cpu),
            new Phase("during", begin, end, null),
            new Phase("after", end, arrivals.seconds(), null));
    List<Record> results = new ArrayList<>();
    results.add(
        new Timeline.Line(
            cell.client(),
            latencies.of(healthy, begin, end),
            ofShard ? latencies.of(where::equals, begin, end) : null,
            cell.folder()));
    groups.forEach(
        (name, shards) -> {
          for (Phase phase : phases) {
            results.add(
                new ScenarioEntry(
                    scenario.label(),
                    cell.client(),
                    arrivals.perSecond(),
                    arrivals.kind(),
                    phase.name,
                    name,
                    latencies.phase(shards, phase.from, phase.to),
                    phase.to - phase.from,
                    List.of(),
                    phase.cpu,
                    null,
                    cell.folder()));
          }
        });
    return results;
  }

  /** Returns the lines of all clients in the format of results. */
  Timeline timeline(BenchCluster cluster, List<Timeline.Line> lines) {
    String where = scenario.where(cluster);
    return new Timeline(
        scenario.label(),
        scenario.fault(where),
        scenario.ofShard() ? where : null,
        arrivals.perSecond(),
        arrivals.kind(),
        arrivals.seconds(),
        (int) from.toSeconds(),
        (int) to.toSeconds(),
        lines);
  }
}
