package dev.onehop.measure.points;

import dev.onehop.measure.frame.Sampler;
import dev.onehop.measure.frame.Sampler.Sample;
import dev.onehop.measure.results.FleetResult;
import dev.onehop.measure.results.FleetResult.Server;
import dev.onehop.measure.results.FleetResult.Usage;
import dev.onehop.measure.results.HdrLogs;
import dev.onehop.measure.results.LatencySummary;
import dev.onehop.testbed.evidence.ServerUsage;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.function.LongPredicate;
import java.util.function.ToLongFunction;
import org.HdrHistogram.Histogram;

/**
 * Many instances of an application in few processes, with their resource use at the servers. An
 * instance issues as many operations at once as the driver's default pool has connections. Then it
 * pauses while other instances do the same. The pools therefore reach their full size at a rate
 * that a small machine can execute.
 *
 * @param instances the number of instances
 */
record Fleet(Warmup warmup, Arrivals arrivals, int instances) implements OpenLoop {

  private static final int MOST_PROCESSES = 5;
  private static final Duration FOR_CONNECTING = Duration.ofMinutes(3);
  private static final Duration DRAIN = Duration.ofSeconds(60);
  private static final Duration INTERVAL = Duration.ofSeconds(1);

  private int processes() {
    return Math.min(MOST_PROCESSES, instances);
  }

  @Override
  public String title(PointCell cell) {
    return "fleet, " + OpenLoop.super.title(cell);
  }

  @Override
  public List<Record> measure(PointCell cell, YcsbClients clients)
      throws IOException, InterruptedException {
    Path folder = clients.folder(cell.folder());
    Map<Path, YcsbArguments> arguments = new LinkedHashMap<>();
    ClientPlan together = new ClientPlan(processes(), null, UUID.randomUUID().toString());
    for (int process = 0; process < together.count(); process++) {
      Path own = MergedClients.folder(folder, process);
      long its = together.part(instances, process);
      arguments.put(
          own,
          YcsbArguments.openLoop(cell, clients, own, arrivals)
              .client(together, process, cell.folder())
              .set("onehop.rate", arrivals.perSecond() * its / instances)
              .set("onehop.byshard", false)
              .set("onehop.instances", its)
              .set("onehop.burst", PointsPlan.DEFAULT_POOL));
    }
    Duration atMost = warmup.most().plus(FOR_CONNECTING).plus(arrivals.duration()).plus(DRAIN);
    try (Sampler<List<ServerUsage>> usage =
            Sampler.start(INTERVAL, clients.cluster().testbed()::serverUsage);
        YcsbClients.Running running = clients.start(arguments)) {
      var unused = running.await(atMost, true);
      long from = running.beginNanos();
      return List.of(
          line(
              cell,
              arguments.keySet(),
              servers(usage.stop(), from, from + arrivals.duration().toNanos())));
    }
  }

  private static FleetResult.Line line(PointCell cell, Set<Path> folders, List<Server> servers)
      throws IOException {
    Histogram all = new Histogram(3);
    long intended = 0;
    long errors = 0;
    double seconds = 0;
    for (Path folder : folders) {
      all.add(HdrLogs.tagged(YcsbArguments.latencies(folder), "intended"));
      RunSummary summary = RunSummary.of(folder);
      intended += summary.operations();
      errors += summary.errors();
      seconds = Math.max(seconds, summary.measuredSeconds());
    }
    return new FleetResult.Line(
        cell.client(),
        intended,
        intended - errors,
        errors,
        seconds == 0 ? 0 : Math.round((intended - errors) * 10.0 / seconds) / 10.0,
        LatencySummary.of(all),
        servers,
        cell.folder());
  }

  /**
   * Returns the resource use of each server that has a sample at rest.
   *
   * @param samples the samples; the first one was taken at rest, before the clients
   * @param fromNanos the time when the first operation was issued
   * @param toNanos the time when the last operation was issued
   */
  static List<Server> servers(
      List<Sample<List<ServerUsage>>> samples, long fromNanos, long toNanos) {
    return samples.get(0).value().stream()
        .map(
            rest ->
                new Server(
                    rest.server(),
                    rest.host(),
                    rest.router(),
                    new Usage(rest.sockets(), rest.residentBytes()),
                    usage(
                        samples,
                        rest,
                        nanos -> nanos - fromNanos >= 0 && nanos - toNanos <= 0,
                        0.5),
                    usage(samples, rest, nanos -> true, 1)))
        .toList();
  }

  /** Returns a quantile of a server's samples; its use at rest if there are no samples. */
  private static Usage usage(
      List<Sample<List<ServerUsage>>> samples,
      ServerUsage rest,
      LongPredicate within,
      double quantile) {
    List<ServerUsage> its =
        samples.stream()
            .skip(1)
            .filter(sample -> within.test(sample.nanos()))
            .flatMap(sample -> sample.value().stream())
            .filter(usage -> usage.server().equals(rest.server()))
            .toList();
    List<ServerUsage> known = its.isEmpty() ? List.of(rest) : its;
    return new Usage(
        (int) quantile(known, ServerUsage::sockets, quantile),
        quantile(known, ServerUsage::residentBytes, quantile));
  }

  private static long quantile(
      List<ServerUsage> of, ToLongFunction<ServerUsage> figure, double quantile) {
    long[] sorted = of.stream().mapToLong(figure).sorted().toArray();
    return sorted[(int) ((sorted.length - 1) * quantile)];
  }

  /** Returns all lines in the format of results. */
  FleetResult result(List<FleetResult.Line> lines) {
    return new FleetResult(
        instances,
        processes(),
        arrivals.perSecond(),
        PointsPlan.DEFAULT_POOL,
        arrivals.seconds(),
        lines);
  }
}
