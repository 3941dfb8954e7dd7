package dev.onehop.cli;

import dev.onehop.measure.points.PingBench;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * {@code onehop bench ping}. Together with {@link PingBench}, this class is an example of a new
 * bench.
 */
@Command(
    name = "ping",
    header = "Measure a ping through each mongos.",
    footer = {
      "Examples:",
      "  onehop bench ping",
      "  onehop bench ping --url mongodb://mongos1,mongos2/ --rounds 5"
    })
final class PingCommand extends Subcommand {

  @Mixin private ClusterOptions where = new ClusterOptions();

  @Mixin private ResultsOptions results = new ResultsOptions();

  @Option(
      names = "--rounds",
      paramLabel = "N",
      description = "The number of rounds. Each round pings every mongos. Default: 3.")
  private int rounds = 3;

  @Option(
      names = "--pings",
      paramLabel = "N",
      description = "The number of pings of each mongos in a round. Default: 1000.")
  private int pings = 1000;

  @Override
  public Integer call() {
    PingBench bench =
        new PingBench(
            MeasuringCommand.atLeastOne("--rounds", rounds),
            MeasuringCommand.atLeastOne("--pings", pings));
    return results.run(bench, where.source(where.topology(), testbed -> testbed));
  }
}
