package dev.onehop.cli;

import dev.onehop.measure.points.Mode;
import dev.onehop.measure.points.PointsPlan;
import dev.onehop.measure.points.Warmup;
import dev.onehop.measure.points.Workload;
import dev.onehop.testbed.topology.Topology;
import java.time.Duration;
import java.util.List;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code onehop bench rate}. */
@Command(
    name = "rate",
    header = "Measure latency at fixed rates.",
    description =
        "Starts operations at scheduled times. Latencies are measured from these times, even if an"
            + " operation starts late. Each mode has the driver's default pool of 100 connections."
            + " Official clients also run with a pool of the size --connections, and routed clients"
            + " also run pipelined.",
    footer = {
      "Examples:",
      "  onehop bench rate 100,300",
      "  onehop bench rate 100,200,400,800 --modes async,targeted-async",
      "  onehop bench rate 300 --arrivals poisson"
    })
final class RateCommand extends LoadCommand {

  @Mixin ArrivalOptions arrivals = new ArrivalOptions();

  @Parameters(
      index = "0",
      arity = "1",
      paramLabel = "RATE",
      split = ",",
      description = "Operations per second.")
  List<Double> rates;

  @Mixin PoolOptions pools = new PoolOptions();

  @Option(
      names = "--duration",
      paramLabel = "TIME",
      description = "Measured time per rate, in whole seconds. Default: 10s (--quick: 5s).")
  @Nullable Duration duration;

  @Override
  PointsPlan plan(Workload workload, @Nullable Topology topology) {
    Duration measured = PointsCommand.measuredTime(duration, quick);
    Refuse.when(measured.toMillis() % 1000 != 0, "--duration must be in whole seconds");
    rates.forEach(ArrivalOptions::check);
    return PointsPlan.of(load.properties, pools.rounds(), load.seed(null))
        .rates(
            load.modes(Mode.all(), where, topology),
            List.copyOf(new TreeSet<>(rates)),
            arrivals.isPoisson(),
            pools.connections(),
            pools.pipelining(),
            load.warmup(Warmup.UNTIL_STEADY),
            measured);
  }
}
