package dev.onehop.cli;

import dev.onehop.cli.bench.BenchPlan;
import dev.onehop.cli.bench.ClusterSource;
import dev.onehop.cli.bench.Mode;
import dev.onehop.cli.bench.Pipelining;
import dev.onehop.cli.bench.Scenario;
import dev.onehop.cli.bench.ScenarioPlan;
import dev.onehop.cli.bench.Workload;
import dev.onehop.testbed.Topology;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.Spec;

/** {@code onehop bench}. */
@Command(
    name = "bench",
    mixinStandardHelpOptions = true,
    versionProvider = Version.class,
    sortOptions = false,
    header = "Measure what shard-aware routing buys.",
    description = {
      "",
      "Starts a sharded cluster over far-apart regions on this machine, loads it, runs a YCSB"
          + " workload in each mode at each number of threads, and takes everything down again.",
      ""
    },
    footer = {
      "",
      "Examples:",
      "  onehop bench                     us-2014, workloada, all modes",
      "  onehop bench --quick             the same in some three minutes",
      "  onehop bench --topology single-host --threads 16",
      "  onehop bench --modes async,targeted-async --threads 8,32 --duration 20s",
      "  onehop bench --workload my.workload -p requestdistribution=uniform",
      "  ONEHOP_PASSWORD=... onehop bench --url 'mongodb://user@mongos1,mongos2/?tls=true'",
      "  onehop bench --scenario shard-freeze --rate 300",
      "                                   what one frozen shard does to the others' operations",
      "  onehop bench --seed-experiment   the experiment of 2014 (long)",
      "",
      "Exit code: 0 all points ran without errors, 1 the run or an operation failed,",
      "2 the command line was wrong, 130 interrupted (finished points are kept)."
    })
final class BenchCommand implements Callable<Integer> {

  private static final List<Integer> DEFAULT_THREADS = List.of(1, 4, 16, 64);
  private static final List<Integer> QUICK_THREADS = List.of(1, 16, 64);
  private static final List<Integer> SEED_THREADS = List.of(10, 25, 50, 75, 100);
  private static final List<String> NOT_WITH_SEED =
      List.of("--quick", "--threads", "--connections", "--records", "--operations", "--duration");
  private static final List<String> NOT_WITH_SCENARIO =
      List.of(
          "--seed-experiment",
          "--threads",
          "--connections",
          "--pipelining",
          "--operations",
          "--duration",
          "--rounds",
          "--peer",
          "--existing");
  private static final double DEFAULT_RATE = 300;
  private static final double MOST_RATE = 100_000;
  private static final Duration SCENARIO_WARMUP = Duration.ofSeconds(15);
  private static final int MOST_THREADS = 4096;
  private static final long DEFAULT_RECORDS = 10_000;
  private static final int DEFAULT_CONNECTIONS = 5;
  private static final long SEED_RECORDS = 100_000;
  private static final long SEED_OPERATIONS = 100_000;

  @Spec private CommandSpec spec;

  @Mixin private ServerOptions servers = new ServerOptions();

  @Option(
      names = "--modes",
      split = ",",
      paramLabel = "MODE",
      description =
          "Modes to measure: legacy, async, targeted-async, targeted-sync, direct-async,"
              + " direct-sync."
              + " Default: the first four.")
  @Nullable List<String> modes;

  @Option(
      names = "--peer",
      paramLabel = "straight",
      description =
          "Measure beside them what is no way to use a cluster, but a limit: the official drivers,"
              + " each operation straight to its shard's mongod, as straight-sync and"
              + " straight-async. Not with --url.")
  @Nullable String peer;

  @Option(
      names = "--threads",
      split = ",",
      paramLabel = "N",
      description = "YCSB client threads. Default: 1,4,16,64 (--quick: 1,16,64).")
  @Nullable List<Integer> threads;

  @Option(
      names = "--connections",
      paramLabel = "N",
      description = "Pool size per server, the same for all modes. Default: 5.")
  @Nullable Integer connections;

  @Option(
      names = "--pipelining",
      paramLabel = "on|off|both",
      description =
          "Many requests in flight on each connection, for all modes but those of the sync driver."
              + " Default: on for targeted-async and direct-async.")
  @Nullable String pipelining;

  @Option(
      names = "--scenario",
      paramLabel = "NAME",
      description =
          "Issue operations at a fixed rate while something happens, each client with the driver's"
              + " pool of 100, routed ones also pipelined over 5 sockets: shard-freeze (one shard's"
              + " server stops for 8 of 25 seconds), shard-slow (it is 200 ms further away),"
              + " router-freeze, router-loss (the nearest mongos stops, or is cut off; clients know"
              + " all).")
  @Nullable String scenario;

  @Option(
      names = "--rate",
      paramLabel = "R",
      description =
          "With --scenario: operations per second, issued at intended times, from which latencies"
              + " count. Default: 300.")
  @Nullable Double rate;

  @Option(
      names = "--arrivals",
      paramLabel = "constant|poisson",
      description = "With --scenario: how the intended times are spread. Default: constant.")
  @Nullable String arrivals;

  @Option(
      names = "--records",
      paramLabel = "N",
      description = "Documents to load. Default: 10000, or what a --workload of your own says.")
  @Nullable Long records;

  @Option(
      names = "--operations",
      paramLabel = "N",
      description = "Operations per point, instead of a duration.")
  @Nullable Long operations;

  @Option(
      names = "--duration",
      paramLabel = "TIME",
      converter = DurationConverter.class,
      description = "Measured time per point. Default: 10s (--quick: 5s).")
  @Nullable Duration duration;

  @Option(
      names = "--warmup",
      paramLabel = "TIME",
      converter = DurationConverter.class,
      description =
          "Unmeasured operations before each point. Default: 25s, after which the just-in-time"
              + " compilers are done (--quick: 3s; 15s on a topology without delays and with --url).")
  @Nullable Duration warmup;

  @Option(
      names = "--rounds",
      paramLabel = "N",
      description =
          "Measure all points N times over and show each point's median round, for a machine that"
              + " others use too. Default: 1.")
  int rounds = 1;

  @Option(
      names = "--workload",
      paramLabel = "FILE",
      description = "A YCSB workload file. Default: workloada (half reads, half updates).")
  @Nullable Path workload;

  @Option(
      names = "-p",
      paramLabel = "KEY=VALUE",
      description = "A YCSB property; overrides the workload file. May be repeated.")
  Map<String, String> properties = new LinkedHashMap<>();

  @Option(
      names = "--out",
      paramLabel = "DIR",
      description =
          "Where results.json, report.html and the logs go. Default: onehop-results/<time>.")
  @Nullable Path out;

  @Option(names = "--quick", description = "Shorter points and fewer thread counts.")
  boolean quick;

  @Option(
      names = "--seed-experiment",
      description =
          "The parameters of Allanbank's experiment of 2014: 100,000 documents, 100,000 operations"
              + " per point, 5 connections, threads 10,25,50,75,100.")
  boolean seedExperiment;

  @Option(
      names = "--url",
      paramLabel = "URL",
      description =
          "Use a cluster of your own: the URL of its mongoses, with a user where it has access"
              + " control, whose password is taken from ONEHOP_PASSWORD. --tls-ca, too, holds for"
              + " it.")
  @Nullable String url;

  @Option(
      names = "--overwrite",
      description = "With --url: delete the documents that are in the collection (usertable).")
  boolean overwrite;

  /** What excludes a cluster of one's own. */
  private static final List<String> NOT_WITH_URL =
      List.of(
          "--topology",
          "--mongod",
          "--mongos",
          "--fcv",
          "--existing",
          "--key-file",
          "--peer",
          "--scenario");

  @Override
  public Integer call() {
    servers.check();
    Workload workload = workload();
    @Nullable Topology topology = topology();
    BenchPlan plan = plan(workload.records(), topology);
    PrintWriter stdout = spec.commandLine().getOut();
    return new BenchRun(source(topology, plan), plan, workload, out, commandLine(), stdout).run();
  }

  /** The topology to start; null for a cluster of the user's own. */
  @Nullable Topology topology() {
    if (url == null) {
      if (overwrite) {
        throw Failure.usage("--overwrite goes with --url");
      }
      return servers.resolveTopology();
    }
    for (String option : NOT_WITH_URL) {
      if (spec.commandLine().getParseResult().hasMatchedOption(option)) {
        throw Failure.usage(option + " and --url exclude each other");
      }
    }
    return null;
  }

  private ClusterSource source(@Nullable Topology topology, BenchPlan plan) {
    return topology == null
        ? ClusterSource.at(servers.existingOptions.url(Objects.requireNonNull(url)), overwrite)
        : ClusterSource.testbed(
            servers.testbed(topology).longRun(plan.hasLongWarmup()),
            servers.existing ? servers.existingOptions::application : open -> open);
  }

  /**
   * The workload with the number of records that was asked for.
   *
   * @throws Failure if it can't be read or its properties make no sense
   */
  Workload workload() {
    Path file = workload == null ? Home.path("workloads/workloada") : workload;
    Workload read = Workload.load(file, properties);
    boolean ownCount = workload != null || properties.containsKey("recordcount");
    if (records != null) {
      if (properties.containsKey("recordcount")) {
        throw Failure.usage("--records and -p recordcount exclude each other");
      }
      return read.withRecords(atLeastOne("--records", records));
    }
    if (seedExperiment) {
      return read.withRecords(SEED_RECORDS);
    }
    boolean counts = ownCount && read.properties().containsKey("recordcount");
    return read.withRecords(counts ? read.records() : DEFAULT_RECORDS);
  }

  /**
   * What the options ask for.
   *
   * @param recordCount the documents that the workload loads
   * @param topology what is started; null for a cluster of the user's own
   * @throws Failure if they contradict each other or are out of range
   */
  BenchPlan plan(long recordCount, @Nullable Topology topology) {
    if (scenario != null) {
      return scenarioPlan(recordCount, topology);
    }
    if (rate != null || arrivals != null) {
      throw Failure.usage((rate != null ? "--rate" : "--arrivals") + " goes with --scenario");
    }
    if (seedExperiment) {
      ParseResult parsed = spec.commandLine().getParseResult();
      for (String option : NOT_WITH_SEED) {
        if (parsed.hasMatchedOption(option)) {
          throw Failure.usage(option + " and --seed-experiment exclude each other");
        }
      }
      return plan(SEED_THREADS, DEFAULT_CONNECTIONS, recordCount, SEED_OPERATIONS, null, topology);
    }
    if (operations != null && duration != null) {
      throw Failure.usage("--operations and --duration exclude each other");
    }
    int pool = connections == null ? DEFAULT_CONNECTIONS : connections;
    atLeastOne("--connections", pool);
    Duration measured = duration;
    if (operations != null) {
      atLeastOne("--operations", operations);
      int most = Collections.max(chosenThreads());
      if (operations < most) {
        // YCSB would run fewer threads than the point says.
        throw Failure.usage("--operations " + operations + ": fewer than threads (" + most + ")");
      }
    } else if (measured == null) {
      measured = Duration.ofSeconds(quick ? 5 : 10);
    } else if (measured.compareTo(Duration.ofSeconds(1)) < 0) {
      throw Failure.usage("--duration must be at least 1s");
    }
    return plan(chosenThreads(), pool, recordCount, operations, measured, topology);
  }

  private BenchPlan scenarioPlan(long recordCount, @Nullable Topology topology) {
    ParseResult parsed = spec.commandLine().getParseResult();
    for (String option : NOT_WITH_SCENARIO) {
      if (parsed.hasMatchedOption(option)) {
        throw Failure.usage(option + " and --scenario exclude each other");
      }
    }
    Scenario chosen = Scenario.named(Objects.requireNonNull(scenario));
    if (chosen.ofShard() && topology != null && topology.shards().size() < 2) {
      throw Failure.usage(
          "--scenario " + chosen.label() + " needs a topology of two shards or more");
    }
    double perSecond = rate == null ? DEFAULT_RATE : rate;
    if (!(perSecond > 0) || perSecond > MOST_RATE) {
      throw Failure.usage("--rate " + rate + ": must be above 0 and at most " + MOST_RATE);
    }
    if (arrivals != null && !arrivals.equals("constant") && !arrivals.equals("poisson")) {
      throw Failure.usage("--arrivals takes constant or poisson, and not '" + arrivals + "'");
    }
    return new BenchPlan(
        chosenModes(),
        List.of(BenchPlan.LARGE_POOL),
        BenchPlan.LARGE_POOL,
        recordCount,
        null,
        Duration.ofSeconds(1),
        warmup == null ? SCENARIO_WARMUP : warmup,
        1,
        0,
        quick,
        Pipelining.TARGETED,
        properties,
        ScenarioPlan.of(chosen, perSecond, "poisson".equals(arrivals)));
  }

  private BenchPlan plan(
      List<Integer> threadCounts,
      int pool,
      long recordCount,
      @Nullable Long operationsPerPoint,
      @Nullable Duration measured,
      @Nullable Topology topology) {
    return new BenchPlan(
        chosenModes(),
        threadCounts,
        pool,
        recordCount,
        operationsPerPoint,
        measured,
        warmup == null ? defaultWarmup(topology) : warmup,
        atLeastOne("--rounds", rounds),
        BenchPlan.LARGE_POOL,
        quick,
        pipelining == null ? Pipelining.TARGETED : Pipelining.named(pipelining),
        properties,
        null);
  }

  private Duration defaultWarmup(@Nullable Topology topology) {
    if (topology != null && topology.hasDelays() && quick) {
      return Duration.ofSeconds(3);
    }
    return quick ? Duration.ofSeconds(15) : BenchPlan.LONG_WARMUP;
  }

  private List<Mode> chosenModes() {
    List<Mode> chosen =
        modes == null
            ? Mode.all()
            : modes.stream().map(String::strip).map(Mode::named).distinct().toList();
    return peer == null
        ? chosen
        : Stream.concat(chosen.stream(), Mode.peers(peer).stream()).toList();
  }

  private List<Integer> chosenThreads() {
    if (threads == null) {
      return quick ? QUICK_THREADS : DEFAULT_THREADS;
    }
    for (int count : threads) {
      atLeastOne("--threads", count);
      if (count > MOST_THREADS) {
        throw Failure.usage("--threads " + count + ": at most " + MOST_THREADS);
      }
    }
    return List.copyOf(new TreeSet<>(threads));
  }

  private static <N extends Number> N atLeastOne(String option, N value) {
    if (value.longValue() < 1) {
      throw Failure.usage(option + " " + value + ": must be at least 1");
    }
    return value;
  }

  /** The command line that repeats this run. */
  private String commandLine() {
    StringBuilder line = new StringBuilder("bin/onehop");
    for (String argument : spec.commandLine().getParseResult().originalArgs()) {
      line.append(' ').append(Shell.quote(argument));
    }
    return line.toString();
  }
}
