package dev.onehop.cli;

import dev.onehop.measure.points.Bench;
import dev.onehop.measure.points.BenchPlan;
import dev.onehop.measure.points.ClientPlan;
import dev.onehop.measure.points.Criterion;
import dev.onehop.measure.points.Mode;
import dev.onehop.measure.points.Pipelining;
import dev.onehop.measure.points.RatePlan;
import dev.onehop.measure.points.Scenario;
import dev.onehop.measure.points.ScenarioPlan;
import dev.onehop.measure.points.Workload;
import dev.onehop.measure.points.ZonesPlan;
import dev.onehop.measure.frame.ClusterSource;
import dev.onehop.resync.Failure;
import dev.onehop.testbed.topology.Host;
import dev.onehop.testbed.topology.Topology;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeSet;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.ThreadLocalRandom;
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
    subcommands = {CollectCommand.class, ConsumeCommand.class, PropagateCommand.class},
    header = "Measure what shard-aware routing buys.",
    description = {
      "",
      "Starts a sharded cluster over far-apart regions on this machine, loads it, runs a YCSB"
          + " workload in each mode at each number of threads, and takes everything down again."
          + " Without options that say what to measure, the scenario shard-freeze follows.",
      ""
    },
    footer = {
      "",
      "Examples:",
      "  onehop bench                     us-2014, workloada, all modes; then a frozen shard",
      "  onehop bench --quick             the same in some five minutes",
      "  onehop bench --topology single-host --threads 16",
      "  onehop bench --modes async,targeted-async --threads 8,32 --duration 20s",
      "  onehop bench --workload my.workload -p requestdistribution=uniform",
      "  ONEHOP_PASSWORD=... onehop bench --url 'mongodb://user@mongos1,mongos2/?tls=true'",
      "  onehop bench --scenario shard-freeze --rate 300",
      "                                   what one frozen shard does to the others' operations",
      "  onehop bench --rate 100,300      latencies at fixed rates",
      "  onehop bench --threads 64 --rounds 5",
      "                                   ratios to the best official client, with intervals",
      "  onehop bench --scenario limit    throughput by threads, nothing else",
      "  onehop bench --seed-experiment   the experiment of 2014 (half an hour)",
      "",
      "Exit code: 0 all points ran without errors, 1 the run or an operation failed,",
      "2 the command line was wrong, 130 interrupted (finished points are kept)."
    })
final class BenchCommand implements Callable<Integer> {

  private static final List<Integer> DEFAULT_THREADS = List.of(1, 64);
  private static final List<Integer> QUICK_THREADS = List.of(64);
  private static final List<Integer> LIMIT_THREADS = List.of(1, 4, 16, 64);

  /** Who gives one of these measures points, and no scenario beside them. */
  private static final List<String> NOT_OF_THE_WHOLE =
      List.of(
          "--modes",
          "--threads",
          "--connections",
          "--pipelining",
          "--operations",
          "--duration",
          "--rounds",
          "--rate",
          "--peer",
          "--workload",
          "-p");

  private static final List<String> NOT_WITH_SEED =
      List.of("--quick", "--threads", "--connections", "--duration");
  private static final List<String> NOT_WITH_RATE =
      List.of("--seed-experiment", "--threads", "--operations");
  private static final List<String> NOT_WITH_SCENARIO =
      List.of(
          "--seed-experiment",
          "--seed",
          "--threads",
          "--connections",
          "--pipelining",
          "--operations",
          "--duration",
          "--rounds",
          "--peer",
          "--existing");
  private static final List<String> NOT_WITH_CLIENTS =
      List.of("--scenario", "--peer", "--seed-experiment", "--rate");
  private static final int MOST_CLIENTS = 1000;
  private static final double DEFAULT_RATE = 300;

  /** So that each of 50 instances has its turn every ten seconds. */
  private static final double FLEET_RATE = 500;

  private static final int FLEET_CLIENTS = 50;
  private static final List<Mode> FLEET_MODES =
      List.of(Mode.ASYNC, Mode.TARGETED_ASYNC, Mode.DIRECT_ASYNC);

  /** An error of 2 % either way. */
  private static final double SEED_ERROR = 0.02;

  private static final Duration LEAST_WARMUP = Duration.ofSeconds(8);
  private static final int MOST_THREADS = 4096;
  private static final long DEFAULT_RECORDS = 10_000;
  private static final int DEFAULT_CONNECTIONS = 5;

  @Spec private CommandSpec spec;

  @Mixin private ClusterOptions where = new ClusterOptions();

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
      split = ",",
      paramLabel = "PEER",
      description = {
        "Measure beside them, not with --url:",
        "near-mongos: the official async driver with a server selector that takes the mongos of the"
            + " shortest round trip, and all mongoses in its URL.",
        "local-threshold-0: the same by localThresholdMS=0.",
        "pipelined-only: the async driver, pipelined, without routing.",
        "straight: no way to use a cluster, but a limit: the official drivers, each operation"
            + " straight to its shard's mongod, as straight-sync and straight-async."
      })
  @Nullable List<String> peers;

  @Option(
      names = "--threads",
      split = ",",
      paramLabel = "N",
      description = "YCSB client threads. Default: 1,64 (--quick: 64).")
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
              + " Default: both for targeted-async and direct-async.")
  @Nullable String pipelining;

  @Option(
      names = "--scenario",
      paramLabel = "NAME",
      description =
          "Issue operations at a fixed rate while something happens, each client with the driver's"
              + " pool of 100, routed ones also pipelined over 5 sockets: shard-freeze (one shard's"
              + " server stops for 8 of 25 seconds), shard-slow (it is 200 ms further away),"
              + " router-freeze, router-loss, router-kill (the nearest mongos stops, is cut off, or is"
              + " killed and started again; clients know all), zones (with --topology three-zones: the"
              + " bytes that cross zones), fleet (50 instances of an application, or"
              + " --clients, in few processes: sockets and memory at the servers). And limit: no rate and"
              + " no fault, but throughput by threads (1,4,16,64) beside what a closed loop can do.")
  @Nullable String scenario;

  @Option(
      names = "--rate",
      split = ",",
      paramLabel = "R",
      description =
          "Operations per second in place of threads, issued at intended times, from which latencies"
              + " count: of each mode with the driver's pool of 100, of official ones also with"
              + " --connections, of routed ones also pipelined. With --scenario one rate; default:"
              + " 300.")
  @Nullable List<Double> rates;

  @Option(
      names = "--clients",
      paramLabel = "N",
      description =
          "Client processes for each point, started together; --threads and --connections are each"
              + " one's own. Latencies are those of all operations, each client's processor time"
              + " stands beside. Default: 1.")
  @Nullable Integer clients;

  @Option(
      names = "--client",
      paramLabel = "I",
      description =
          "With --clients and --url: run client I only, from 0, while others run elsewhere. Default"
              + " in a Kubernetes Indexed Job: the pod's index (JOB_COMPLETION_INDEX).")
  @Nullable Integer client;

  @Option(
      names = "--run",
      paramLabel = "NAME",
      defaultValue = "${env:ONEHOP_RUN}",
      description =
          "With --client: what all clients of the run call it, and no other run (ONEHOP_RUN).")
  @Nullable String run;

  @Option(
      names = "--print-results",
      description =
          "Print the results as text on standard output, too, where bench collect takes them from a"
              + " pod's log.")
  boolean printResults;

  @Option(
      names = "--arrivals",
      paramLabel = "constant|poisson",
      description =
          "With --rate, --scenario: how the intended times are spread. Default:"
              + " constant.")
  @Nullable String arrivals;

  @Option(
      names = "--zones",
      paramLabel = "one|all",
      description =
          "With --scenario zones: whether the application runs in the topology's zone of the client,"
              + " or in each zone, one after the other. Default: one.")
  @Nullable String zones;

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
          "Unmeasured operations before each point. Default: until their rate is steady and the"
              + " just-in-time compilers have little left to do, from 8s to 40s. A shorter time than"
              + " 15s is without the optimizing compiler on two processors or with distances.")
  @Nullable Duration warmup;

  @Option(
      names = "--rounds",
      paramLabel = "N",
      description =
          "Measure all points N times over, each time in another random order, and show each point's"
              + " median round. From 5 on, ratios to the best official client have a 95 %% interval."
              + " Default: 1.")
  int rounds = 1;

  @Option(
      names = "--seed",
      paramLabel = "N",
      description = "Of the random order of the points. Default: another each time, shown.")
  @Nullable Long seed;

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
          "The parameters of Allanbank's experiment of 2014: 100,000 documents, 5 connections,"
              + " threads 10,25,50,75,100, 100,000 operations per point. A point ends sooner when"
              + " the 95 %% interval of its throughput is within 2 %% either way, or after 25 s."
              + " With --records, that many documents; with --operations, every point to its last"
              + " operation.")
  boolean seedExperiment;

  /** What excludes a cluster of one's own, besides options of the cluster. */
  private static final List<String> NOT_WITH_URL = List.of("--peer", "--scenario");

  @Override
  public Integer call() {
    where.servers.check();
    Workload workload = workload();
    @Nullable Topology topology = topology();
    BenchPlan plan = plan(workload.records(), topology);
    ClientPlan together = clientPlan(workload, System.getenv("JOB_COMPLETION_INDEX"));
    PrintWriter stdout = spec.commandLine().getOut();
    return new BenchRun(
            source(topology, plan),
            plan,
            together,
            workload,
            out,
            printResults,
            Shell.commandLine(spec.commandLine().getParseResult().originalArgs()),
            stdout)
        .run();
  }

  /**
   * The clients that the options ask for.
   *
   * @param podIndex the index that Kubernetes gives, null elsewhere
   * @throws Failure if they contradict each other or are out of range
   */
  ClientPlan clientPlan(Workload workload, @Nullable String podIndex) {
    if (isFleet()) {
      workload.requireSharable();
      if (client != null) {
        throw Failure.usage("--client and --scenario fleet exclude each other");
      }
      return new ClientPlan(instances(), null, "");
    }
    if (clients == null) {
      if (client != null) {
        throw Failure.usage("--client goes with --clients");
      }
      return ClientPlan.ONE;
    }
    if (atLeastOne("--clients", clients) > MOST_CLIENTS) {
      throw Failure.usage("--clients " + clients + ": at most " + MOST_CLIENTS);
    }
    for (String option : NOT_WITH_CLIENTS) {
      if (spec.commandLine().getParseResult().hasMatchedOption(option)) {
        throw Failure.usage(option + " and --clients exclude each other");
      }
    }
    if (operations != null && operations < (long) clients * Collections.max(chosenThreads())) {
      throw Failure.usage("--operations " + operations + ": fewer than threads of all clients");
    }
    workload.requireSharable();
    Integer index = client == null && where.url != null ? podIndex(podIndex) : client;
    if (index == null) {
      return clients == 1
          ? ClientPlan.ONE
          : new ClientPlan(clients, null, UUID.randomUUID().toString());
    }
    if (rounds > 1) {
      throw Failure.usage("--rounds and --client exclude each other");
    }
    if (index < 0 || index >= clients) {
      throw Failure.usage("--client " + index + ": must be from 0 to " + (clients - 1));
    }
    if (where.url == null) {
      throw Failure.usage("--client goes with --url: the others must find the same cluster");
    }
    if (run == null || run.isBlank()) {
      throw Failure.usage("--client needs --run NAME, the same for all clients of this run");
    }
    return new ClientPlan(clients, index, run);
  }

  private boolean isFleet() {
    return scenario != null && !isLimit() && Scenario.named(scenario) == Scenario.FLEET;
  }

  /** The scenario of points alone, by threads. */
  private boolean isLimit() {
    return Scenario.LIMIT.equals(scenario);
  }

  /** How many instances of an application the scenario has. */
  private int instances() {
    if (clients == null) {
      return FLEET_CLIENTS;
    }
    if (atLeastOne("--clients", clients) > MOST_CLIENTS) {
      throw Failure.usage("--clients " + clients + ": at most " + MOST_CLIENTS);
    }
    return clients;
  }

  private static @Nullable Integer podIndex(@Nullable String given) {
    try {
      return given == null || given.isEmpty() ? null : Integer.valueOf(given);
    } catch (NumberFormatException e) {
      throw Failure.usage("JOB_COMPLETION_INDEX is no number: " + given);
    }
  }

  /** The topology to start; null for a cluster of the user's own. */
  @Nullable Topology topology() {
    return where.topology(spec.commandLine().getParseResult(), NOT_WITH_URL);
  }

  private ClusterSource source(@Nullable Topology topology, BenchPlan plan) {
    return where.source(
        topology,
        testbed -> testbed.longRun(plan.hasLongWarmup() && !quick));
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
      return read.withRecords(BenchPlan.SEED_RECORDS);
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
    if (!"zones".equals(scenario) && zones != null) {
      throw Failure.usage("--zones goes with --scenario zones");
    }
    if (isLimit() && rates != null) {
      throw Failure.usage("--rate and --scenario limit exclude each other");
    }
    if (scenario != null && !isLimit()) {
      return scenarioPlan(recordCount, topology);
    }
    if (rates != null) {
      return ratePlan(recordCount, topology);
    }
    if (arrivals != null) {
      throw Failure.usage("--arrivals goes with --rate or --scenario");
    }
    if (seedExperiment) {
      ParseResult parsed = spec.commandLine().getParseResult();
      for (String option : NOT_WITH_SEED) {
        if (parsed.hasMatchedOption(option)) {
          throw Failure.usage(option + " and --seed-experiment exclude each other");
        }
      }
      return plan(
          BenchPlan.SEED_THREADS,
          BenchPlan.SEED_CONNECTIONS,
          recordCount,
          operations == null ? (Long) BenchPlan.SEED_OPERATIONS : enough(BenchPlan.SEED_THREADS),
          null,
          operations == null ? (Double) SEED_ERROR : null,
          null,
          topology);
    }
    if (operations != null && duration != null) {
      throw Failure.usage("--operations and --duration exclude each other");
    }
    Duration measured = null;
    if (operations != null) {
      var unused = enough(chosenThreads());
    } else {
      measured = measuredTime();
    }
    return plan(
        chosenThreads(),
        chosenConnections(),
        recordCount,
        operations,
        measured,
        null,
        null,
        topology);
  }

  /** The operations of a point: YCSB would run fewer threads than the point says. */
  private Long enough(List<Integer> threadCounts) {
    Long given = atLeastOne("--operations", Objects.requireNonNull(operations));
    int most = Collections.max(threadCounts);
    if (given < most) {
      throw Failure.usage("--operations " + given + ": fewer than threads (" + most + ")");
    }
    return given;
  }

  /** All clients of a run measure the points in the same order. */
  private long chosenSeed() {
    if (seed != null) {
      return seed;
    }
    return run == null ? ThreadLocalRandom.current().nextInt(1_000_000) : run.hashCode();
  }

  private Duration measuredTime() {
    if (duration == null) {
      return Duration.ofSeconds(quick ? 5 : 10);
    }
    if (duration.compareTo(Duration.ofSeconds(1)) < 0) {
      throw Failure.usage("--duration must be at least 1s");
    }
    return duration;
  }

  private int chosenConnections() {
    return connections == null ? DEFAULT_CONNECTIONS : atLeastOne("--connections", connections);
  }

  private BenchPlan ratePlan(long recordCount, @Nullable Topology topology) {
    ParseResult parsed = spec.commandLine().getParseResult();
    for (String other : NOT_WITH_RATE) {
      if (parsed.hasMatchedOption(other)) {
        throw Failure.usage(other + " and --rate exclude each other");
      }
    }
    List<Double> chosen = chosenRates();
    Duration measured = measuredTime();
    if (measured.toMillis() % 1000 != 0) {
      throw Failure.usage("--duration with --rate takes whole seconds");
    }
    return plan(
        List.of(BenchPlan.LARGE_POOL),
        chosenConnections(),
        recordCount,
        null,
        measured,
        null,
        new RatePlan(chosen, isPoisson()),
        topology);
  }

  private List<Double> chosenRates() {
    for (double each : Objects.requireNonNull(rates)) {
      if (!(each > 0) || each > Bench.MOST_RATE) {
        throw Failure.usage("--rate " + each + ": must be above 0 and at most " + Bench.MOST_RATE);
      }
    }
    return List.copyOf(new TreeSet<>(rates));
  }

  private boolean isPoisson() {
    if (arrivals != null && !arrivals.equals("constant") && !arrivals.equals("poisson")) {
      throw Failure.usage("--arrivals takes constant or poisson, and not '" + arrivals + "'");
    }
    return "poisson".equals(arrivals);
  }

  private BenchPlan scenarioPlan(long recordCount, @Nullable Topology topology) {
    ParseResult parsed = spec.commandLine().getParseResult();
    for (String option : NOT_WITH_SCENARIO) {
      if (parsed.hasMatchedOption(option)) {
        throw Failure.usage(option + " and --scenario exclude each other");
      }
    }
    Scenario chosen = Scenario.named(Objects.requireNonNull(scenario));
    if (chosen.isOfRouter() && topology != null && topology.mongosHosts().size() < 2) {
      throw Failure.usage(
          "--scenario " + chosen.label() + " needs a topology of two mongoses or more");
    }
    if (chosen.ofShard() && topology != null && topology.shards().size() < 2) {
      throw Failure.usage(
          "--scenario " + chosen.label() + " needs a topology of two shards or more");
    }
    if (chosen == Scenario.ZONES && arrivals != null) {
      throw Failure.usage("--arrivals and --scenario zones exclude each other");
    }
    boolean fleet = chosen == Scenario.FLEET;
    List<Double> perSecond =
        rates == null ? List.of(fleet ? FLEET_RATE : DEFAULT_RATE) : chosenRates();
    if (perSecond.size() > 1) {
      throw Failure.usage("--rate takes one rate with --scenario");
    }
    List<Mode> ways = fleet && modes == null ? FLEET_MODES : chosenModes();
    if (fleet) {
      for (Mode mode : ways) {
        if (!mode.canPipeline()) {
          throw Failure.usage(
              "--scenario fleet: " + mode + " needs a thread for each operation; use async modes");
        }
      }
    }
    ScenarioPlan planned = what(chosen, perSecond.get(0), topology);
    return new BenchPlan(
        ways,
        List.of(),
        BenchPlan.LARGE_POOL,
        recordCount,
        null,
        Duration.ofSeconds(1),
        null,
        planned.warmup(),
        null,
        1,
        0,
        0,
        quick,
        Pipelining.TARGETED,
        properties,
        null,
        warmup == null ? planned : planned.withWarmup(warmup));
  }

  private ScenarioPlan what(Scenario chosen, double perSecond, @Nullable Topology topology) {
    return switch (chosen) {
      case ZONES -> ScenarioPlan.zones(perSecond, zonesPlan(Objects.requireNonNull(topology)));
      case FLEET -> ScenarioPlan.fleet(instances(), perSecond, isPoisson());
      default -> ScenarioPlan.of(chosen, perSecond, isPoisson());
    };
  }

  private ZonesPlan zonesPlan(Topology topology) {
    if (!hasZones(topology)) {
      throw Failure.usage(
          "--scenario zones needs a topology with a mongos and a member of every shard in each of"
              + " two regions or more, such as three-zones");
    }
    if (zones != null && !zones.equals("one") && !zones.equals("all")) {
      throw Failure.usage("--zones takes one or all, and not '" + zones + "'");
    }
    return new ZonesPlan(
        "all".equals(zones) ? topology.regions() : List.of(topology.client().region()));
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

  private BenchPlan plan(
      List<Integer> threadCounts,
      int pool,
      long recordCount,
      @Nullable Long operationsPerPoint,
      @Nullable Duration measured,
      @Nullable Double error,
      @Nullable RatePlan ratePlan,
      @Nullable Topology topology) {
    List<Mode> chosen = chosenModes();
    for (Mode mode : chosen) {
      if (mode.knowsAllRouters() && topology != null && topology.mongosHosts().size() < 2) {
        throw Failure.usage("--peer " + mode + " needs a topology of several mongoses");
      }
      if (mode.knowsAllRouters() && where.servers.existing) {
        throw Failure.usage("--peer " + mode + " and --existing exclude each other");
      }
    }
    return new BenchPlan(
        chosen,
        threadCounts,
        pool,
        recordCount,
        operationsPerPoint,
        measured,
        error,
        warmup == null ? BenchPlan.MOST_WARMUP : warmup,
        warmup == null ? LEAST_WARMUP : null,
        atLeastOne("--rounds", rounds),
        chosenSeed(),
        BenchPlan.LARGE_POOL,
        quick,
        pipelining == null ? Pipelining.TARGETED : Pipelining.named(pipelining),
        properties,
        ratePlan,
        isWhole(topology) ? ofTheWhole() : null);
  }

  /** Whether nothing was said of what to measure, so that a scenario belongs to it. */
  private boolean isWhole(@Nullable Topology topology) {
    ParseResult parsed = spec.commandLine().getParseResult();
    return topology != null
        && topology.shards().size() > 1
        && scenario == null
        && clients == null
        && !where.servers.existing
        && !seedExperiment
        && NOT_OF_THE_WHOLE.stream().noneMatch(parsed::hasMatchedOption);
  }

  private ScenarioPlan ofTheWhole() {
    ScenarioPlan frozen = ScenarioPlan.of(Scenario.SHARD_FREEZE, DEFAULT_RATE, false);
    return quick ? frozen.shortened() : frozen;
  }

  private List<Mode> chosenModes() {
    List<Mode> chosen =
        modes == null
            ? Mode.all()
            : modes.stream().map(String::strip).map(Mode::named).distinct().toList();
    return peers == null
        ? chosen
        : Stream.concat(
                chosen.stream(),
                peers.stream().map(String::strip).distinct().flatMap(p -> Mode.peers(p).stream()))
            .toList();
  }

  private List<Integer> chosenThreads() {
    if (threads == null && isLimit()) {
      return LIMIT_THREADS;
    }
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
}
