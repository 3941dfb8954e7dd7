package dev.onehop.cli;

import dev.onehop.measure.joining.ResyncBench;
import dev.onehop.measure.joining.ResyncBenchPlan;
import dev.onehop.resync.ResyncMethod;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code onehop bench join}, also {@code onehop resync bench}. */
@Command(
    name = "join",
    header = "Measure the time to add a member to a replica set, by two methods.",
    description =
        "Starts a replica set on this machine with a primary and a hidden secondary, and writes"
            + " documents in POCDriver's format. While an application writes and reads, the command"
            + " adds a third member several times, by initial sync or by copying files. After each"
            + " time it checks that the new member's log shows the method. It also checks that"
            + " dbHash is equal on all members, and that no write is lost.",
    footer = {
      "Examples:",
      "  onehop bench join --quick",
      "  onehop bench join --indexes 0,5,10 --sizes 256,1024 --data /mnt/big",
      "",
      "Exit code: 0 = no fault, 1 = a fault or a failed run, 2 = the command line was wrong,",
      "130 = interrupted (finished measurements are kept)."
    })
class BenchJoinCommand extends Subcommand {

  private static final List<Integer> INDEXES = List.of(0, 5);
  private static final List<Integer> QUICK_INDEXES = List.of(0, 4);
  private static final List<Integer> COLLECTIONS = List.of(1, 50);
  private static final List<Integer> QUICK_COLLECTIONS = List.of(1);
  private static final List<Integer> SIZES = List.of(64, 512);
  private static final List<Integer> QUICK_SIZES = List.of(8, 64);
  private static final int ROUNDS = 3;
  private static final int MOST_MEBIBYTES = 10_000_000;
  private static final int LEAST_OPLOG = 16;

  /** After this time, a quick run repeats no measurement. It measures each cell at least once. */
  private static final Duration QUICK = Duration.ofSeconds(75);

  @Option(
      names = "--method",
      split = ",",
      paramLabel = "METHOD",
      description = "logical, files. Default: both.")
  @Nullable List<String> methods;

  @Option(
      names = "--indexes",
      split = ",",
      paramLabel = "N",
      description = "Numbers of secondary indexes to compare. Default: 0,5 (--quick: 0,4).")
  @Nullable List<Integer> indexes;

  @Option(
      names = "--collections",
      split = ",",
      paramLabel = "N",
      description =
          "Numbers of collections that the data is split into. Default: 1,50 (--quick: 1).")
  @Nullable List<Integer> collections;

  @Option(
      names = "--sizes",
      split = ",",
      paramLabel = "MIB",
      description =
          "Sizes of the data in mebibytes. From two or more sizes, the bench calculates a fixed"
              + " time and a time for each GiB. Default: 64,512 (--quick: 8,64).")
  @Nullable List<Integer> sizes;

  @Option(
      names = "--rounds",
      paramLabel = "N",
      description =
          "How often to measure each combination of method, indexes, collections and size."
              + " Default: 3 (--quick: 1 to 3; no repetition starts after 75 s).")
  @Nullable Integer rounds;

  @Option(
      names = "--oplog",
      paramLabel = "MIB",
      defaultValue = "64",
      description =
          "The size of each oplog in mebibytes. The oplog is copied, too. Default:"
              + " ${DEFAULT-VALUE}.")
  private int oplog;

  @Option(
      names = "--seed",
      paramLabel = "N",
      defaultValue = "1",
      description =
          "The seed of the random documents, and of the order of measurements. Default:"
              + " ${DEFAULT-VALUE}.")
  private long seed;

  @Option(
      names = "--mongod",
      paramLabel = "PATH",
      defaultValue = "${env:ONEHOP_MONGOD}",
      description =
          "The mongod program to run (also: ONEHOP_MONGOD). Default: the one on this machine; if"
              + " there is none, it is downloaded.")
  @Nullable Path mongod;

  @Option(
      names = "--data",
      paramLabel = "DIR",
      description =
          "The folder for the servers' data during the run. The bench measures the disk of this"
              + " folder. Default: the system's folder for temporary files.")
  @Nullable Path data;

  @Mixin private ResultsOptions results = new ResultsOptions();

  @Option(names = "--quick", description = "Few and small measurements: under three minutes.")
  boolean quick;

  @Override
  public Integer call() {
    return results.run(new ResyncBench(plan()), null);
  }

  /** The plan of the options. */
  ResyncBenchPlan plan() {
    ProgramOptions.requireProgram("--mongod", mongod);
    Refuse.when(
        data != null && Files.exists(data) && !Files.isDirectory(data),
        "--data " + data + " is not a folder");
    Refuse.when(
        oplog < LEAST_OPLOG || oplog > MOST_MEBIBYTES,
        "--oplog " + oplog + ": must be " + LEAST_OPLOG + " or more");
    return new ResyncBenchPlan(
        methods == null
            ? List.of(ResyncMethod.values())
            : methods.stream().map(String::strip).map(ResyncMethod::named).distinct().toList(),
        new OptionRange("--indexes", 0, 10).values(indexes, quick ? QUICK_INDEXES : INDEXES),
        new OptionRange("--collections", 1, 10_000)
            .values(collections, quick ? QUICK_COLLECTIONS : COLLECTIONS),
        new OptionRange("--sizes", 1, MOST_MEBIBYTES).values(sizes, quick ? QUICK_SIZES : SIZES),
        new OptionRange("--rounds", 1, 100).value(rounds, ROUNDS),
        quick && rounds == null ? QUICK : null,
        oplog,
        seed,
        mongod,
        data == null ? null : data.toAbsolutePath().normalize());
  }
}
