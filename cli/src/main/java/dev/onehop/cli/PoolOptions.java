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
          "The pool size per server. With bench rate, the size of an additional pool of official"
              + " clients, and the number of sockets of pipelined clients. Default: 5.")
  @Nullable Integer connections;

  @Option(
      names = "--pipelining",
      paramLabel = "on|off|both",
      description =
          "Whether a connection has many requests in flight. With both, a mode is measured with and"
              + " without. Only for async, targeted-async and direct-async. Default: off for async,"
              + " both for the others.")
  @Nullable String pipelining;

  @Option(
      names = "--rounds",
      paramLabel = "N",
      description =
          "Measure everything N times, each time in another random order, and show the median"
              + " round. From 5 rounds on, ratios to the best official client have a 95 %%"
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
