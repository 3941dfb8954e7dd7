package dev.onehop.cli;

import dev.onehop.measure.points.ClientPlan;
import dev.onehop.measure.points.Mode;
import dev.onehop.measure.points.Pipelining;
import dev.onehop.measure.points.PointsPlan;
import dev.onehop.measure.points.ResultsArchive;
import dev.onehop.measure.points.Warmup;
import dev.onehop.measure.points.Workload;
import dev.onehop.measure.results.ResultsFile;
import dev.onehop.resync.Failure;
import dev.onehop.testbed.topology.Topology;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.TreeSet;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code onehop bench points}. */
@Command(
    name = "points",
    header = "Measure throughput and latency in closed loops, for several numbers of threads.",
    description =
        "Each thread starts its next operation when the previous one has ended. Every mode runs"
            + " with each number of threads. Official clients also run with the driver's default pool"
            + " of 100 connections.",
    footer = {
      "Examples:",
      "  onehop bench points --threads 64 --rounds 5",
      "  onehop bench points --topology single-host --threads 16",
      "  onehop bench points --modes async,targeted-async --threads 8,32 --duration 20s",
      "  onehop bench points --workload my.workload -p requestdistribution=uniform",
      "  onehop bench points --clients 4 --threads 16"
    })
final class PointsCommand extends LoadCommand {

  private static final List<Integer> DEFAULT_THREADS = List.of(1, 64);
  private static final List<Integer> QUICK_THREADS = List.of(64);
  private static final int MOST_CLIENTS = 1000;
  private static final int MOST_THREADS = 4096;

  @Option(
      names = "--threads",
      split = ",",
      paramLabel = "N",
      description = "YCSB client threads. Default: 1,64 (--quick: 64).")
  @Nullable List<Integer> threads;

  @Mixin PoolOptions pools = new PoolOptions();

  @ArgGroup Bound bound = new Bound();

  /** The end of a point: after a time, or after a number of operations. */
  static final class Bound {
    @Option(
        names = "--duration",
        paramLabel = "TIME",
        description = "Measured time per point. Default: 10s (--quick: 5s).")
    @Nullable Duration duration;

    @Option(
        names = "--operations",
        paramLabel = "N",
        description = "Operations per point, instead of a duration.")
    @Nullable Long operations;
  }

  @Option(
      names = "--clients",
      paramLabel = "N",
      description =
          "The number of client processes, which start each point together. --threads and"
              + " --connections apply to each client. Default: 1. For clients on many machines, see"
              + " docs/many-clients.md.")
  @Nullable Integer clients;

  @Option(
      names = "--client",
      hidden = true,
      paramLabel = "I",
      description = "With --clients and --url: run only client I. Numbers begin at 0.")
  @Nullable Integer client;

  @Option(
      names = "--run",
      hidden = true,
      paramLabel = "NAME",
      defaultValue = "${env:ONEHOP_RUN}",
      description = "With --client: the name of the run, the same for all clients (ONEHOP_RUN).")
  @Nullable String run;

  @Option(
      names = "--print-results",
      hidden = true,
      description = "Print the results as text, too, for bench collect.")
  boolean printResults;

  @Option(names = "--seed-experiment", hidden = true, description = "See bench --help.")
  boolean seedExperiment;

  @Override
  Workload workload() {
    return load.workload(seedExperiment ? PointsPlan.SEED_RECORDS : UserTable.RECORDS);
  }

  @Override
  PointsPlan plan(Workload workload, @Nullable Topology topology) {
    PointsPlan plan = PointsPlan.of(load.properties, pools.rounds(), load.seed(run));
    List<Mode> modes = load.modes(Mode.all(), where, topology);
    Pipelining variants = pools.pipelining();
    Warmup warmup = load.warmup(Warmup.UNTIL_STEADY);
    if (seedExperiment) {
      Refuse.when(
          quick || threads != null || pools.connections != null || bound.duration != null,
          "--seed-experiment sets threads, connections and time itself; it accepts only"
              + " --records and --operations");
      return plan.seedExperiment(
          modes, variants, warmup, workload.records(), operations(PointsPlan.SEED_THREADS));
    }
    Long operations = operations(chosenThreads());
    return plan.closedLoops(
        modes,
        chosenThreads(),
        pools.connections(),
        variants,
        quick,
        warmup,
        operations,
        operations == null ? measuredTime(bound.duration, quick) : null);
  }

  /** The operations of a point; null if none are given. */
  private @Nullable Long operations(List<Integer> threadCounts) {
    if (bound.operations == null) {
      return null;
    }
    atLeastOne("--operations", bound.operations);
    int most = Collections.max(threadCounts);
    if (bound.operations < most) {
      // With fewer operations than threads, YCSB would run fewer threads than the point reports.
      throw Failure.usage(
          "--operations %d: must be at least the number of threads, %d"
              .formatted(bound.operations, most));
    }
    return bound.operations;
  }

  /** How long to measure a point: the given duration, or the default. */
  static Duration measuredTime(@Nullable Duration given, boolean quick) {
    if (given == null) {
      return Duration.ofSeconds(quick ? 5 : 10);
    }
    Refuse.when(given.compareTo(Duration.ofSeconds(1)) < 0, "--duration must be at least 1s");
    return given;
  }

  private List<Integer> chosenThreads() {
    if (threads == null) {
      return quick ? QUICK_THREADS : DEFAULT_THREADS;
    }
    for (int count : threads) {
      Refuse.when(
          atLeastOne("--threads", count) > MOST_THREADS,
          "--threads " + count + ": at most " + MOST_THREADS);
    }
    return List.copyOf(new TreeSet<>(threads));
  }

  @Override
  ClientPlan clientPlan(Workload workload) {
    return clientPlan(workload, System.getenv("JOB_COMPLETION_INDEX"));
  }

  /**
   * The clients that the options describe.
   *
   * @param podIndex the index of the pod from Kubernetes; null outside Kubernetes
   * @throws Failure if options contradict each other or are out of range
   */
  ClientPlan clientPlan(Workload workload, @Nullable String podIndex) {
    if (clients == null) {
      Refuse.when(client != null, "--client requires --clients");
      return ClientPlan.ONE;
    }
    checkClients(clients);
    Refuse.when(seedExperiment, "--seed-experiment and --clients exclude each other");
    Refuse.when(
        Mode.named(load.names(), List.of()).stream().anyMatch(Mode::isPeer),
        "modes for comparison and --clients exclude each other");
    Refuse.when(
        bound.operations != null
            && bound.operations < (long) clients * Collections.max(chosenThreads()),
        "--operations " + bound.operations + ": fewer than the threads of all clients");
    workload.requireSharable();
    Integer index = client == null && where.url != null ? podIndex(podIndex) : client;
    if (index == null) {
      return clients == 1
          ? ClientPlan.ONE
          : new ClientPlan(clients, null, UUID.randomUUID().toString());
    }
    Refuse.when(pools.rounds > 1, "--rounds and --client exclude each other");
    Refuse.when(
        index < 0 || index >= clients,
        "--client " + index + ": must be from 0 to " + (clients - 1));
    Refuse.when(
        where.url == null,
        "--client requires --url: the other clients must reach the same cluster");
    if (run == null || run.isBlank()) {
      throw Failure.usage("--client needs --run NAME, the same for all clients of this run");
    }
    return new ClientPlan(clients, index, run);
  }

  /** Checks a number of clients. */
  static int checkClients(int count) {
    Refuse.when(
        atLeastOne("--clients", count) > MOST_CLIENTS,
        "--clients " + count + ": at most " + MOST_CLIENTS);
    return count;
  }

  private static @Nullable Integer podIndex(@Nullable String given) {
    try {
      return given == null || given.isEmpty() ? null : Integer.valueOf(given);
    } catch (NumberFormatException e) {
      throw Failure.usage("JOB_COMPLETION_INDEX is not a number: " + given);
    }
  }

  @Override
  void ended(Path folder) {
    if (printResults && Files.exists(folder.resolve(ResultsFile.NAME))) {
      out().print(ResultsArchive.pack(folder));
    }
  }
}
