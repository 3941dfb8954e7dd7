package dev.onehop.cli;

import dev.onehop.measure.frame.ClusterSource;
import dev.onehop.measure.points.ClientPlan;
import dev.onehop.measure.points.PointsBench;
import dev.onehop.measure.points.PointsPlan;
import dev.onehop.measure.points.Workload;
import dev.onehop.resync.Failure;
import dev.onehop.testbed.topology.Topology;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** A command that measures clients under load. */
abstract class MeasuringCommand extends Subcommand {

  /** The default rate of scenarios, in operations per second. */
  static final double DEFAULT_RATE = 300;

  @Mixin ClusterOptions where = new ClusterOptions();

  @Mixin ResultsOptions results = new ResultsOptions();

  @Option(names = "--quick", description = "Fewer and shorter measurements, for rough figures.")
  boolean quick;

  /**
   * The plan that the options describe.
   *
   * @param topology the topology to start; null for a cluster of the user
   * @throws Failure if options contradict each other or are out of range
   */
  abstract PointsPlan plan(Workload workload, @Nullable Topology topology);

  /** The workload with the number of records to load. */
  abstract Workload workload();

  /** The clients of each point. */
  ClientPlan clientPlan(Workload workload) {
    return ClientPlan.ONE;
  }

  /** Called at the end, also after a failed run. */
  void ended(Path folder) {}

  @Override
  public Integer call() {
    Workload workload = workload();
    @Nullable Topology topology = where.topology();
    PointsPlan plan = plan(workload, topology);
    PointsBench bench = new PointsBench(plan, clientPlan(workload), workload);
    ClusterSource source =
        where.source(topology, testbed -> testbed.longRun(plan.hasLongWarmup() && !quick));
    Path folder = results.folder();
    try {
      return results.run(bench, source, folder, results.commandLine(List.of()));
    } finally {
      ended(folder);
    }
  }

  static <N extends Number> N atLeastOne(String option, N value) {
    Refuse.when(value.longValue() < 1, option + " " + value + ": must be at least 1");
    return value;
  }
}
