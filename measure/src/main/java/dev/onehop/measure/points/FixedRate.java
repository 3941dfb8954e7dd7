package dev.onehop.measure.points;

import dev.onehop.measure.frame.Sampler;
import dev.onehop.measure.frame.Sampler.Sample;
import dev.onehop.measure.results.ScenarioEntry;
import dev.onehop.measure.results.ShardLatencies;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Operations at a fixed rate without a fault. */
record FixedRate(Warmup warmup, Arrivals arrivals) implements OpenLoop {

  /** The time to wait for replies at the end. */
  private static final Duration DRAIN = Duration.ofSeconds(10);

  private static final Duration GRACE = Duration.ofMinutes(1);

  @Override
  public String folder(PointCell cell) {
    return cell.folder("r" + rate());
  }

  @Override
  public String title(PointCell cell) {
    return cell.title(rate() + "/s");
  }

  private String rate() {
    double rate = arrivals.perSecond();
    return rate == Math.rint(rate)
        ? String.valueOf((long) rate)
        : String.format(Locale.ROOT, "%.1f", rate);
  }

  @Override
  public Duration estimate(PointCell cell, double meanRoundTripMillis) {
    return warmup.expected().plus(OVERHEAD).plus(arrivals.duration());
  }

  @Override
  public List<Record> measure(PointCell cell, YcsbClients clients)
      throws IOException, InterruptedException {
    Path folder = clients.folder(cell.folder());
    YcsbArguments arguments =
        YcsbArguments.openLoop(cell, clients, folder, arrivals)
            .set("onehop.drain", DRAIN.toMillis());
    try (YcsbClients.Running running = clients.start(Map.of(folder, arguments));
        Sampler<Reading> sampler = Reading.start(clients.cluster(), running)) {
      var unused =
          running.await(warmup.most().plus(arrivals.duration()).plus(DRAIN).plus(GRACE), true);
      List<Sample<Reading>> samples = sampler.stop();
      RunSummary summary = RunSummary.of(folder);
      ShardLatencies latencies = latencies(folder);
      // Replies during the wait at the end do not count for the achieved rate.
      double answered = latencies.phase(shard -> true, 0, arrivals.seconds()).perSecond();
      return List.of(
          new ScenarioEntry(
              ScenarioEntry.RATE,
              cell.client(),
              arrivals.perSecond(),
              arrivals.kind(),
              ScenarioEntry.ALL,
              ScenarioEntry.ALL,
              latencies.phase(shard -> true, 0, Integer.MAX_VALUE).withPerSecond(answered),
              arrivals.seconds(),
              List.of(),
              Reading.cpuPerOperation(samples, summary),
              Reading.conditions(samples, summary),
              cell.folder()));
    }
  }
}
