package dev.onehop.cli;

import dev.onehop.measure.copying.CopyBench;
import dev.onehop.measure.copying.CopyBenchPlan;
import dev.onehop.measure.copying.CopyTool;
import dev.onehop.measure.results.CopyBenchRun;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code onehop bench copy}. */
@Command(
    name = "copy",
    header = "Measure the speed, lag and correctness of copies between clusters.",
    description =
        "Starts two clusters on this machine and writes documents in YCSB's format. OneHop and"
            + " another tool copy them in turns, while ranges move at the source. The bench"
            + " compares each copy with its source. Without --rival, the other tool is a plain program"
            + " with the official driver and one mongos.",
    footer = {
      "Examples:",
      "  onehop bench copy --quick",
      "  onehop bench copy --measure full --records 5000000 --in 1,5",
      "  onehop bench copy --measure lag --write-rate 300 --duration 60s",
      "  onehop bench copy --between replica-set --rival pcsm=/opt/pcsm/bin/pcsm",
      "",
      "Exit code: 0 = all copies are right, 1 = a copy is wrong or the run failed,",
      "2 = the command line was wrong, 130 = interrupted (finished copies are kept)."
    })
final class BenchCopyCommand extends Subcommand {
  private static final List<String> KINDS =
      List.of(CopyBenchRun.FULL, CopyBenchRun.INCREMENTAL, CopyBenchRun.LAG);
  private static final double LEAST_SHARE = 0.01;
  private static final double MOST_SHARE = 8;

  /** The servers' oplogs are too small for more than 500,000 changes. */
  private static final OptionRange CHANGES = new OptionRange("--changes", 1_000, 500_000);

  private static final OptionRange RATE = new OptionRange("--write-rate", 1, 100_000);

  @Option(
      names = "--measure",
      split = ",",
      paramLabel = "KIND",
      description =
          "What to measure. full: how fast all documents are copied; incremental: how fast a"
              + " backlog of changes is applied; lag: how late each change arrives. Default: all.")
  private List<String> kinds = KINDS;

  @Option(
      names = "--changes",
      paramLabel = "N",
      description =
          "For incremental: the number of inserts and updates in the backlog, 500000 at most."
              + " Default: 100000 (--quick: 5000).")
  private @Nullable Integer changes;

  @Option(
      names = "--write-rate",
      paramLabel = "N",
      description =
          "For lag: the number of inserts and updates per second. Default: 1000 (--quick: 300).")
  private @Nullable Integer rate;

  @Option(
      names = "--duration",
      paramLabel = "TIME",
      description = "For lag: how long each measurement runs. Default: 20s (--quick: 2s).")
  private @Nullable Duration duration;

  @Option(
      names = "--router-cpus",
      paramLabel = "X",
      description =
          "The number of processors that each mongos may use, 0.01 to 8, as on a small machine."
              + " The limit is the same for all tools. Requires root. Default: no limit.")
  private @Nullable Double routerCpus;

  @Mixin private CopyDataOptions data = new CopyDataOptions();

  @Mixin private ResultsOptions results = new ResultsOptions();

  @Override
  public Integer call() {
    return results.run(new CopyBench(plan()), null);
  }

  /** The plan of the options. */
  CopyBenchPlan plan() {
    for (String kind : kinds) {
      Refuse.when(
          !KINDS.contains(kind), "--measure takes full, incremental and lag, not '" + kind + "'");
    }
    boolean quick = data.quick;
    Duration time = duration == null ? Duration.ofSeconds(quick ? 2 : 20) : duration;
    Refuse.when(
        routerCpus != null && !(routerCpus >= LEAST_SHARE && routerCpus <= MOST_SHARE),
        "--router-cpus must be from 0.01 to 8");
    return data.plan(
        KINDS.stream().filter(kinds::contains).toList(),
        CHANGES.value(changes, quick ? 5_000 : 100_000),
        RATE.value(rate, quick ? 300 : 1_000),
        OptionRange.upToAnHour("--duration", time, Duration.ofSeconds(1)),
        routerCpus,
        CopyTool.COPIERS);
  }
}
