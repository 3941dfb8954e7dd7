package dev.onehop.cli;

import dev.onehop.measure.copying.CopyBench;
import dev.onehop.measure.copying.CopyBenchPlan;
import dev.onehop.measure.copying.CopyTool;
import dev.onehop.measure.results.CopyBenchRun;
import java.time.Duration;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** {@code onehop bench verify}. */
@Command(
    name = "verify",
    header = "Measure the speed of comparing two clusters.",
    description =
        "Starts two clusters on this machine and copies documents like YCSB's from one to the"
            + " other. OneHop then compares the two clusters. With --rival, OneHop and"
            + " migration-verifier compare them in turns.",
    footer = {
      "Examples:",
      "  onehop bench verify --quick",
      "  onehop bench verify --rival migration-verifier=/opt/migration_verifier",
      "",
      "Exit code: 0 = the clusters were equal each time, 1 = they were different or the run failed,",
      "2 = the command line was wrong, 130 = interrupted (finished comparisons are kept)."
    })
final class BenchVerifyCommand extends Subcommand {
  @Mixin private CopyDataOptions data = new CopyDataOptions();

  @Mixin private ResultsOptions results = new ResultsOptions();

  @Override
  public Integer call() {
    return results.run(new CopyBench(plan()), null);
  }

  /** The plan of the options. */
  CopyBenchPlan plan() {
    return data.plan(List.of(CopyBenchRun.VERIFY), 0, 0, Duration.ZERO, null, CopyTool.VERIFIERS);
  }
}
