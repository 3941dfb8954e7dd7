package dev.onehop.cli;

import dev.onehop.measure.copying.CopyBench;
import dev.onehop.measure.copying.CopyBenchPlan;
import dev.onehop.measure.copying.ClusterPair;
import dev.onehop.measure.report.CopyBenchReport;
import dev.onehop.measure.report.CopyBenchTable;
import dev.onehop.measure.results.CopyBenchResults;
import dev.onehop.measure.results.CopyBenchRun;
import dev.onehop.resync.Failure;
import java.time.Duration;
import java.util.List;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.Spec;

/** {@code onehop copy --bench}. */
final class CopyBenchOptions {
  private static final String BENCH = "--bench";
  private static final List<String> KINDS =
      List.of(CopyBenchRun.FULL, CopyBenchRun.INCREMENTAL, CopyBenchRun.LAG);
  private static final List<String> OF_BENCH =
      List.of(
          "--measure",
          "--between",
          "--records",
          "--in",
          "--changes",
          "--write-rate",
          "--duration",
          "--rounds",
          "--router-cpus",
          "--quick",
          "--mongod",
          "--mongos",
          "--out");
  private static final int LEAST = 1_000;
  private static final int MOST_RECORDS = 100_000_000;

  /** More would not fit into the oplogs. */
  private static final int MOST_CHANGES = 500_000;

  private static final int MOST_RATE = 100_000;
  private static final int MOST_ROUNDS = 100;
  private static final int MOST_COLLECTIONS = 100;
  private static final double LEAST_SHARE = 0.01;
  private static final double MOST_SHARE = 8;
  private static final Duration LEAST_TIME = Duration.ofSeconds(1);
  private static final Duration MOST_TIME = Duration.ofHours(1);

  @Spec(Spec.Target.MIXEE)
  private CommandSpec spec;

  @Option(
      names = BENCH,
      description =
          "Start two clusters on this machine, and measure how fast, how late and how rightly the one"
              + " is copied to the other, beside a copy that goes by way of one router. What follows"
              + " goes with this; --json with a copy, too.")
  boolean bench;

  @Option(
      names = "--measure",
      split = ",",
      paramLabel = "KIND",
      description =
          "full: all documents; incremental: a backlog of changes; lag: changes as they come."
              + " Default: all.")
  @Nullable List<String> kinds;

  @Option(
      names = "--between",
      split = ",",
      paramLabel = "PAIR",
      description =
          "sharded, replica-set, replica-set-to-sharded, sharded-to-replica-set: from what to what."
              + " Default: sharded,replica-set (--quick: sharded).")
  @Nullable List<String> setups;

  @Option(
      names = "--records",
      paramLabel = "N",
      description = "Documents of all collections together. Default: 300000 (--quick: 20000).")
  @Nullable Integer records;

  @Option(
      names = "--in",
      split = ",",
      paramLabel = "N",
      description =
          "Into how many collections they are split, one after the other. Default: 1,5 (--quick: 1).")
  @Nullable List<Integer> collections;

  @Option(
      names = "--changes",
      paramLabel = "N",
      description =
          "Inserts and updates of a backlog, 500000 at most. Default: 100000 (--quick: 5000).")
  @Nullable Integer changes;

  @Option(
      names = "--write-rate",
      paramLabel = "N",
      description =
          "Inserts and updates per second while lags are measured. Default: 1000 (--quick: 300).")
  @Nullable Integer rate;

  @Option(
      names = "--duration",
      paramLabel = "TIME",
      converter = DurationConverter.class,
      description = "How long that is, each time. Default: 20s (--quick: 2s).")
  @Nullable Duration duration;

  @Option(
      names = "--rounds",
      paramLabel = "N",
      description = "How often each way is measured. Default: 5 (--quick: 1).")
  @Nullable Integer rounds;

  @Option(
      names = "--router-cpus",
      paramLabel = "X",
      description =
          "Hold each router, of both ways, to this share of a processor, as if each had a small"
              + " machine of its own: 0.01 to 8. Takes root. Default: no limit.")
  @Nullable Double routerCpus;

  @Option(names = "--quick", description = "Small and few copies, under a minute.")
  boolean quick;

  @Mixin ProgramOptions programs = new ProgramOptions();

  /**
   * Whether it is asked for.
   *
   * @throws Failure if it is mixed with a copy
   */
  boolean isWanted() {
    ParseResult given = spec.commandLine().getParseResult();
    for (var option : given.matchedOptions()) {
      String name = option.longestName();
      if (bench && name.equals("--operations")) {
        throw Failure.usage("--operations of --bench is --changes now");
      }
      boolean both = name.equals(BENCH) || name.equals("--json");
      if (!both && OF_BENCH.contains(name) != bench) {
        throw Failure.usage(
            bench ? name + " and --bench exclude each other" : name + " goes with --bench");
      }
    }
    return bench;
  }

  /** Measures. */
  int run(ResultsOptions results) {
    CopyBenchPlan plan = plan();
    CopyBenchResults found =
        results.run(
            results.folder(),
            (context, progress) -> new CopyBench(plan, progress, context),
            CopyBenchReport::write,
            CopyBenchTable::render);
    if (found.faults() > 0) {
      throw Failure.run(
          "%d of %d copies differ from their source; see the table"
              .formatted(found.faults(), found.points().size()),
          null);
    }
    return 0;
  }

  /** What the options ask for. */
  CopyBenchPlan plan() {
    programs.check();
    List<String> wanted = kinds == null ? KINDS : kinds;
    for (String kind : wanted) {
      if (!KINDS.contains(kind)) {
        throw Failure.usage("--measure takes full, incremental and lag, and not '" + kind + "'");
      }
    }
    Duration time = duration == null ? Duration.ofSeconds(quick ? 2 : 20) : duration;
    if (time.compareTo(LEAST_TIME) < 0 || time.compareTo(MOST_TIME) > 0) {
      throw Failure.usage("--duration must be from 1s to 1h");
    }
    if (routerCpus != null && !(routerCpus >= LEAST_SHARE && routerCpus <= MOST_SHARE)) {
      throw Failure.usage("--router-cpus must be from 0.01 to 8");
    }
    List<Integer> usual = quick ? List.of(1) : List.of(1, 5);
    List<Integer> split = collections == null ? usual : collections;
    split.forEach(count -> checked("--in", count, 0, 1, MOST_COLLECTIONS));
    List<ClusterPair> pairs =
        setups == null
            ? quick ? List.of(ClusterPair.SHARDED) : List.of(ClusterPair.SHARDED, ClusterPair.REPLICA_SET)
            : setups.stream().map(ClusterPair::named).distinct().toList();
    return new CopyBenchPlan(
        pairs,
        KINDS.stream().filter(wanted::contains).toList(),
        checked("--records", records, quick ? 20_000 : 300_000, LEAST, MOST_RECORDS),
        List.copyOf(new TreeSet<>(split)),
        checked("--changes", changes, quick ? 5_000 : 100_000, LEAST, MOST_CHANGES),
        checked("--write-rate", rate, quick ? 300 : 1_000, 1, MOST_RATE),
        time,
        checked("--rounds", rounds, quick ? 1 : 5, 1, MOST_ROUNDS),
        quick,
        routerCpus,
        programs.mongod,
        programs.mongos);
  }

  private static int checked(
      String option, @Nullable Integer given, int usual, int least, int most) {
    int value = given == null ? usual : given;
    if (value < least || value > most) {
      throw Failure.usage(option + " " + value + ": must be from " + least + " to " + most);
    }
    return value;
  }
}
