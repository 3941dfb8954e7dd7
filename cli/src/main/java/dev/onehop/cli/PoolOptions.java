package dev.onehop.cli;

import dev.onehop.measure.points.Pipelining;
import dev.onehop.measure.points.PointsPlan;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/**
 * The options of bench points and bench rate for the clients' connections, and for the number of
 * rounds.
 */
final class PoolOptions {

  @Option(
      names = "--connections",
      paramLabel = "N",
      description =
          "The number of connections of a client to each server. In bench rate, official clients"
              + " run with the driver's default pool and with a pool of this size; pipelined"
              + " clients have this number of sockets. Default: 5.")
  @Nullable Integer connections;

  @Option(
      names = "--pipelining",
      paramLabel = "on|off|both",
      description =
          "on: many requests in flight on a connection. off: one request. both: each mode is"
              + " measured twice. The option applies to async, targeted-async and direct-async."
              + " Default: off for async, both for the others.")
  @Nullable String pipelining;

  @Option(
      names = "--rounds",
      paramLabel = "N",
      description =
          "Measure everything N times, each time in another random order, and show the median"
              + " round. With 5 rounds or more, ratios to the best official client have a 95 %%"
              + " interval. Default: 1.")
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
