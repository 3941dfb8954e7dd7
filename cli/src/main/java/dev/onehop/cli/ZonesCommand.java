package dev.onehop.cli;

import dev.onehop.measure.points.Mode;
import dev.onehop.measure.points.PointsPlan;
import dev.onehop.measure.points.Workload;
import dev.onehop.resync.Failure;
import dev.onehop.testbed.topology.Host;
import dev.onehop.testbed.topology.Topology;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code onehop bench zones}. */
@Command(
    name = "zones",
    header = "Measure the bytes per operation that cross availability zones.",
    description =
        "Every client runs at the same rate: once with reads that any member may execute, and once"
            + " with reads and updates on primaries. Each client runs in its default configuration,"
            + " and in the configuration with the least traffic across zones.",
    footer = {
      "Examples:",
      "  onehop bench zones --topology three-zones",
      "  onehop bench zones --topology three-zones --zones all --modes async,direct-async"
    })
final class ZonesCommand extends LoadCommand {

  /** The zones of the application. */
  enum Zones {
    one,
    all
  }

  @Option(
      names = "--zones",
      paramLabel = "one|all",
      description =
          "The zone of the application. one: the zone of the topology's client; all: each zone, one"
              + " after the other. Default: one.")
  Zones zones = Zones.one;

  @Option(names = "--rate", paramLabel = "R", description = "Operations per second. Default: 300.")
  double rate = DEFAULT_RATE;

  @Override
  PointsPlan plan(Workload workload, @Nullable Topology topology) {
    if (topology == null || !hasZones(topology)) {
      throw Failure.usage(
          "bench zones needs a topology of two zones or more, each with a mongos and a member of"
              + " every shard, such as three-zones");
    }
    ArrivalOptions.check(rate);
    return PointsPlan.of(load.properties, 1, 0)
        .zones(
            load.modes(Mode.all(), where, topology),
            zones == Zones.all ? topology.regions() : List.of(topology.client().region()),
            rate,
            load.warmup());
  }

  private static boolean hasZones(Topology topology) {
    return topology.regions().size() > 1
        && topology.regions().stream()
            .allMatch(
                region ->
                    isIn(region, topology.mongosHosts())
                        && topology.shards().stream()
                            .allMatch(shard -> isIn(region, shard.hosts())));
  }

  private static boolean isIn(String region, List<Host> hosts) {
    return hosts.stream().anyMatch(host -> host.region().equals(region));
  }
}
