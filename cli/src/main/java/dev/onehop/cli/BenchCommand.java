package dev.onehop.cli;

import dev.onehop.measure.points.Mode;
import dev.onehop.measure.points.Pipelining;
import dev.onehop.measure.points.PointsPlan;
import dev.onehop.measure.points.Scenario;
import dev.onehop.measure.points.Warmup;
import dev.onehop.measure.points.Workload;
import dev.onehop.testbed.topology.Topology;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code onehop bench}. */
@Command(
    name = "bench",
    synopsisSubcommandLabel = "[COMMAND]",
    subcommands = {
      PointsCommand.class,
      RateCommand.class,
      ScenarioCommand.class,
      ZonesCommand.class,
      BenchCopyCommand.class,
      PingCommand.class,
      ConsumeCommand.class,
      PropagateCommand.class,
      BenchJoinCommand.class,
      BenchVerifyCommand.class,
      CollectCommand.class
    },
    header = "Measure the effect of shard-aware routing.",
    description =
        "Starts a sharded cluster on this machine, with delays as between distant regions. Freezes"
            + " one shard while clients work on all shards. Then measures throughput and latency of"
            + " all shards. Takes four to six minutes. The commands below measure single topics.",
    footer = {
      "Examples:",
      "  onehop bench                     freezes a shard, then measures throughput",
      "  onehop bench --matrix            all modes with 1 and 64 threads; takes 13 minutes",
      "  onehop bench --seed-experiment   repeats an experiment of 2014; takes half an hour",
      "  onehop bench points --threads 64 --rounds 5",
      "  onehop bench scenario shard-freeze --rate 300",
      "  onehop bench rate 100,300",
      "  ONEHOP_PASSWORD=... onehop bench --url 'mongodb://user@m1,m2/?tls=true'",
      "",
      "Exit code: 0 = all points ran without errors, 1 = the run or an operation failed,",
      "2 = the command line was wrong, 130 = interrupted (finished points are kept)."
    })
final class BenchCommand extends MeasuringCommand {

  /** The median of the numbers of threads in Allanbank's experiment of 2014. */
  private static final int FIRST_THREADS = 50;

  private static final List<Mode> QUICK_MODES = List.of(Mode.ASYNC, Mode.TARGETED_ASYNC);

  @ArgGroup Extent extent = new Extent();

  /** The options that select the points to measure. At most one of them may be given. */
  static final class Extent {
    @Option(
        names = "--matrix",
        description =
            "Measure every mode with 1 and 64 threads after a long warm-up, and then while a shard"
                + " is frozen.")
    boolean matrix;

    @Option(
        names = "--seed-experiment",
        description =
            "Repeat Allanbank's experiment of 2014: 100,000 documents, 5 connections, 10 to 100"
                + " threads, and 100,000 operations per point. --records N sets another number of"
                + " documents, --operations N another number of operations. Without --operations,"
                + " a point ends earlier: after 25 s, or when the 95 %% interval of its throughput"
                + " is within 2 %%.")
    boolean seedExperiment;
  }

  @Override
  Workload workload() {
    return UserTable.workload(extent.seedExperiment ? PointsPlan.SEED_RECORDS : UserTable.RECORDS);
  }

  @Override
  PointsPlan plan(Workload workload, @Nullable Topology topology) {
    PointsPlan plan = PointsPlan.of(Map.of(), 1, ThreadLocalRandom.current().nextInt(1_000_000));
    if (extent.seedExperiment) {
      return plan.seedExperiment(
          Mode.all(), Pipelining.TARGETED, Warmup.UNTIL_STEADY, workload.records(), null);
    }
    boolean freezes = where.hasControl() && (topology == null || topology.shards().size() > 1);
    if (extent.matrix) {
      PointsPlan points =
          plan.closedLoops(
              Mode.all(),
              quick ? List.of(64) : List.of(1, 64),
              PointsPlan.SEED_CONNECTIONS,
              Pipelining.TARGETED,
              quick,
              Warmup.UNTIL_STEADY,
              null,
              PointsCommand.measuredTime(null, quick));
      return freezes ? freeze(points, Mode.all(), quick) : points;
    }
    List<Mode> modes = quick ? QUICK_MODES : Mode.all();
    Warmup warmup = Warmup.of(Duration.ofSeconds(quick ? 4 : 6));
    Duration measured = Duration.ofSeconds(quick ? 3 : 5);
    return (freezes ? freeze(plan, modes, true) : plan)
        .closedLoops(
            modes,
            List.of(FIRST_THREADS),
            PointsPlan.SEED_CONNECTIONS,
            Pipelining.TARGETED,
            true,
            warmup,
            null,
            measured)
        .defaultPools(modes, FIRST_THREADS, warmup, measured);
  }

  private static PointsPlan freeze(PointsPlan plan, List<Mode> modes, boolean brief) {
    return plan.fault(Scenario.SHARD_FREEZE, modes, DEFAULT_RATE, false, null, brief);
  }
}
