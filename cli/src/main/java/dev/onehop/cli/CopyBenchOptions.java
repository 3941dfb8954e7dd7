package dev.onehop.cli;

import dev.onehop.cli.bench.Progress;
import dev.onehop.cli.copybench.CopyBench;
import dev.onehop.cli.copybench.CopyBenchPlan;
import dev.onehop.cli.report.CopyBenchReport;
import dev.onehop.cli.report.CopyBenchTable;
import dev.onehop.cli.results.CopyBenchResults;
import dev.onehop.cli.results.CopyBenchRun;
import dev.onehop.cli.results.ResultsFile;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
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
          "--records",
          "--in",
          "--changes",
          "--write-rate",
          "--duration",
          "--rounds",
          "--quick",
          "--mongod",
          "--mongos",
          "--out");
  private static final int LEAST = 1_000;
  private static final int MOST_RECORDS = 100_000_000;

  /** More would not fit into the oplogs. */
  private static final int MOST_OPERATIONS = 500_000;

  private static final int MOST_RATE = 100_000;
  private static final int MOST_ROUNDS = 100;
  private static final int MOST_COLLECTIONS = 100;
  private static final Duration LEAST_TIME = Duration.ofSeconds(1);
  private static final Duration MOST_TIME = Duration.ofHours(1);

  @Spec(Spec.Target.MIXEE)
  private CommandSpec spec;

  @Option(
      names = BENCH,
      description =
          "Start two clusters on this machine, and measure how fast, how late and how rightly the one"
              + " is copied to the other, beside a copy that goes by way of one router. What follows"
              + " goes with this.")
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
          "Inserts and updates of a backlog, 500000 at most. Default: 100000 (--quick: 10000).")
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
      description = "How long that is, each time. Default: 20s (--quick: 3s).")
  @Nullable Duration duration;

  @Option(
      names = "--rounds",
      paramLabel = "N",
      description = "How often each way is measured. Default: 5 (--quick: 2).")
  @Nullable Integer rounds;

  @Option(names = "--quick", description = "Small and few copies, under two minutes.")
  boolean quick;

  @Option(
      names = "--mongod",
      paramLabel = "PATH",
      description = "The mongod to run (also: ONEHOP_MONGOD). Default: found or fetched.")
  @Nullable Path mongod;

  @Option(
      names = "--mongos",
      paramLabel = "PATH",
      description = "The mongos to run (also: ONEHOP_MONGOS). Default: found, or a stand-in.")
  @Nullable Path mongos;

  @Option(
      names = "--out",
      paramLabel = "DIR",
      description = "Where results.json and report.html go. Default: onehop-results/<time>.")
  @Nullable Path out;

  /**
   * Whether it is asked for.
   *
   * @throws Failure if it is mixed with a copy
   */
  boolean isWanted() {
    ParseResult given = spec.commandLine().getParseResult();
    for (var option : given.matchedOptions()) {
      String name = option.longestName();
      boolean both = name.equals(BENCH) || name.equals("--json");
      if (!both && OF_BENCH.contains(name) != bench) {
        throw Failure.usage(
            bench ? name + " and --bench exclude each other" : name + " goes with --bench");
      }
    }
    return bench;
  }

  /** Measures. */
  int run(boolean json) {
    CopyBenchPlan plan = plan();
    Path folder = ResultsFolder.create(out);
    Failure failure = null;
    CopyBenchResults results;
    Interruption interruption = Interruption.of(Thread.currentThread());
    try (Progress progress = Progress.start(Terminal.detect())) {
      CopyBench copies =
          new CopyBench(
              plan,
              progress,
              folder,
              Home.folder(),
              Shell.commandLine(spec.commandLine().getParseResult().originalArgs()));
      try {
        copies.run();
      } catch (InterruptedException | RuntimeException e) {
        failure = interruption.failure(e);
      }
      results = copies.results();
    } finally {
      interruption.close();
    }
    if (results != null && !results.runs().isEmpty()) {
      show(results, folder, json);
    } else {
      ResultsFolder.removeIfEmpty(folder);
    }
    if (failure != null) {
      throw failure;
    }
    if (Objects.requireNonNull(results).faults() > 0) {
      throw Failure.run(results.faults() + " copies differ from their source; see the table", null);
    }
    return 0;
  }

  private void show(CopyBenchResults results, Path folder, boolean json) {
    Path report = CopyBenchReport.write(folder, results);
    PrintWriter stdout = spec.commandLine().getOut();
    if (json) {
      stdout.print(ResultsFile.toJson(results));
    } else {
      stdout.print(CopyBenchTable.render(results));
      stdout.println("Results: " + folder.resolve(ResultsFile.NAME));
      stdout.println("Report:  " + report);
    }
    stdout.flush();
  }

  /** What the options ask for. */
  CopyBenchPlan plan() {
    List<String> wanted = kinds == null ? KINDS : kinds;
    for (String kind : wanted) {
      if (!KINDS.contains(kind)) {
        throw Failure.usage("--measure takes full, incremental and lag, and not '" + kind + "'");
      }
    }
    Duration time = duration == null ? Duration.ofSeconds(quick ? 3 : 20) : duration;
    if (time.compareTo(LEAST_TIME) < 0 || time.compareTo(MOST_TIME) > 0) {
      throw Failure.usage("--duration must be from 1s to 1h");
    }
    List<Integer> usual = quick ? List.of(1) : List.of(1, 5);
    List<Integer> split = collections == null ? usual : collections;
    split.forEach(count -> checked("--in", count, 0, 1, MOST_COLLECTIONS));
    return new CopyBenchPlan(
        KINDS.stream().filter(wanted::contains).toList(),
        checked("--records", records, quick ? 20_000 : 300_000, LEAST, MOST_RECORDS),
        List.copyOf(new TreeSet<>(split)),
        checked("--changes", changes, quick ? 10_000 : 100_000, LEAST, MOST_OPERATIONS),
        checked("--write-rate", rate, quick ? 300 : 1_000, 1, MOST_RATE),
        time,
        checked("--rounds", rounds, quick ? 2 : 5, 1, MOST_ROUNDS),
        program("--mongod", mongod, "ONEHOP_MONGOD"),
        program("--mongos", mongos, "ONEHOP_MONGOS"));
  }

  private static int checked(
      String option, @Nullable Integer given, int usual, int least, int most) {
    int value = given == null ? usual : given;
    if (value < least || value > most) {
      throw Failure.usage(option + " " + value + ": must be from " + least + " to " + most);
    }
    return value;
  }

  // Not as the options' default, which would count as given.
  private static @Nullable Path program(String option, @Nullable Path given, String variable) {
    String environment = System.getenv(variable);
    Path path = given == null && environment != null ? Path.of(environment) : given;
    if (path != null && !Files.isExecutable(path)) {
      throw Failure.usage(option + " " + path + " is no program");
    }
    return path;
  }
}
