package dev.onehop.cli;

import dev.onehop.measure.points.Pipelining;
import dev.onehop.measure.points.PointsPlan;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** How clients are connected at points and rates, and how often these are measured. */
final class PoolOptions {

  @Option(
      names = "--connections",
      paramLabel = "N",
      description =
          "Pool size per server; at a rate, that of official clients beside the driver's own, and the"
              + " sockets of pipelined ones. Default: 5.")
  @Nullable Integer connections;

  @Option(
      names = "--pipelining",
      paramLabel = "on|off|both",
      description =
          "Many requests in flight on each connection, for all modes but those of the synchronous"
              + " driver. Default: both for targeted-async and direct-async.")
  @Nullable String pipelining;

  @Option(
      names = "--rounds",
      paramLabel = "N",
      description =
          "Measure everything N times over, each time in another random order, and show the median"
              + " round. From 5 on, ratios to the best official client have a 95 %% interval."
              + " Default: 1.")
  int rounds = 1;

  int connections() {
    return connections == null
        ? PointsPlan.SEED_CONNECTIONS
        : MeasuringCommand.atLeastOne("--connections", connections);
  }

  Pipelining pipelining() {
    return pipelining == null ? Pipelining.TARGETED : Pipelining.named(pipelining);
  }

  int rounds() {
    return MeasuringCommand.atLeastOne("--rounds", rounds);
  }
}
