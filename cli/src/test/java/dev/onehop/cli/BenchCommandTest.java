package dev.onehop.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import dev.onehop.measure.points.Arrivals;
import dev.onehop.measure.points.ClientPlan;
import dev.onehop.measure.points.Mode;
import dev.onehop.measure.points.PlanReader;
import dev.onehop.measure.points.PlanReader.Cell;
import dev.onehop.measure.points.PointsPlan;
import dev.onehop.measure.points.Warmup;
import dev.onehop.measure.points.Workload;
import dev.onehop.resync.Failure;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

@Isolated("changes onehop.home")
class BenchCommandTest {
  private static final @Nullable String HOME = System.getProperty("onehop.home");

  @TempDir private Path folder;
  private Path workload;

  @BeforeEach
  void setHome() throws IOException {
    System.setProperty("onehop.home", Path.of("..").toRealPath().toString());
  }

  @AfterEach
  void restoreHome() {
    if (HOME == null) {
      System.clearProperty("onehop.home");
    } else {
      System.setProperty("onehop.home", HOME);
    }
  }

  @BeforeEach
  void writeWorkload() throws Exception {
    workload =
        Files.writeString(
            folder.resolve("mine"),
            "workload=site.ycsb.workloads.CoreWorkload\nrecordcount=700\nthreadcount=9\n");
  }

  /** The subcommand of {@code bench} for some arguments. */
  private static MeasuringCommand command(String... args) {
    CommandLine line = OneHopCommand.commandLine();
    List<CommandLine> parsed =
        line.parseArgs(Stream.concat(Stream.of("bench"), Stream.of(args)).toArray(String[]::new))
            .asCommandLineList();
    return parsed.get(parsed.size() - 1).getCommand();
  }

  private MeasuringCommand parse(String... args) {
    return command(
        Stream.concat(Stream.of(args), Stream.of("--workload", workload.toString()))
            .toArray(String[]::new));
  }

  private static PointsPlan plan(MeasuringCommand command) {
    return command.plan(command.workload(), command.where.topology());
  }

  private PointsPlan plan(String... args) {
    return plan(parse(args));
  }

  /** The plan of a command line without a workload. */
  private static PointsPlan whole(String... args) {
    return plan(command(args));
  }

  private static List<String> words(String args) {
    return args.isEmpty() ? List.of() : List.of(args.split(" +", -1));
  }

  /** Runs a command line with a usage error, and returns the message, which is one line. */
  private String refused(List<String> args) {
    List<String> all = new ArrayList<>(args);
    all.add(0, "bench");
    all.addAll(List.of("--out", folder.resolve("out").toString()));
    StringWriter err = new StringWriter();
    int exitCode =
        OneHopCommand.commandLine()
            .setErr(new PrintWriter(err))
            .execute(all.toArray(String[]::new));
    assertThat(exitCode).as(err.toString()).isEqualTo(Failure.USAGE);
    assertThat(err.toString().lines()).hasSize(1);
    return err.toString().strip();
  }

  @Test
  void rejectsUnwritableResultsFolder() throws Exception {
    Path file = Files.createFile(folder.resolve("a-file"));
    for (Path out : List.of(file, file.resolve("below"))) {
      MeasuringCommand command = parse("points", "--out", out.toString());
      assertThatThrownBy(command::call)
          .isInstanceOfSatisfying(
              Failure.class, e -> assertThat(e.exitCode()).isEqualTo(Failure.USAGE))
          .hasMessageContaining("--out " + out);
    }
  }

  @Test
  void defaultRunFreezesShardThenMeasuresFewPoints() {
    assertThat(whole().titles())
        .startsWith(
            "shard-freeze, legacy, 100 threads, 100 connections",
            "shard-freeze, async, 100 threads, 100 connections",
            "shard-freeze, targeted-async, 100 threads, 100 connections",
            "shard-freeze, direct-async, 100 threads, 100 connections")
        .contains(
            "legacy, 50 threads, 5 connections",
            "legacy, 50 threads, 100 connections",
            "targeted-async, 50 threads, 5 connections, pipelined",
            "targeted-async, 50 threads, 100 connections")
        .hasSize(4 + 10);
    assertThat(whole("--quick").titles()).hasSize(2 + 5);
    assertThat(whole("--topology", "single-host").titles()).hasSize(14);
    assertThat(whole("--url", "mongodb://a").titles())
        .as("servers of others are left alone")
        .hasSize(10);
  }

  private static List<Cell> cells(PointsPlan plan, String kind) {
    return PlanReader.cells(plan).stream().filter(cell -> cell.kind().equals(kind)).toList();
  }

  @Test
  void defaultRunIsShort() {
    assertThat(cells(whole(), "Fault"))
        .allMatch(cell -> cell.warmup().equals(Warmup.of(Duration.ofSeconds(6))))
        .allMatch(cell -> new Arrivals(300, false, Duration.ofSeconds(15)).equals(cell.arrivals()));
    assertThat(cells(whole(), "ClosedLoop"))
        .allMatch(cell -> cell.warmup().equals(Warmup.of(Duration.ofSeconds(6))))
        .allMatch(cell -> Duration.ofSeconds(5).equals(cell.duration()))
        .allMatch(cell -> cell.operations() == null && cell.error() == null);
    assertThat(cells(whole("--quick"), "ClosedLoop"))
        .allMatch(cell -> cell.warmup().equals(Warmup.of(Duration.ofSeconds(4))))
        .allMatch(cell -> Duration.ofSeconds(3).equals(cell.duration()));
  }

  @Test
  void faultAfterMatrixIsLongUnlessQuick() {
    assertThat(cells(whole("--matrix"), "Fault"))
        .allMatch(cell -> cell.warmup().equals(Warmup.of(Duration.ofSeconds(15))))
        .allMatch(cell -> new Arrivals(300, false, Duration.ofSeconds(25)).equals(cell.arrivals()));
    assertThat(cells(whole("--matrix", "--quick", "--topology", "atlas-3-region"), "Fault"))
        .isNotEmpty()
        .allMatch(cell -> new Arrivals(300, false, Duration.ofSeconds(15)).equals(cell.arrivals()));
  }

  @Test
  void pointsDefaultsMatchHelp() {
    List<Cell> cells = PlanReader.cells(plan("points"));
    assertThat(cells).extracting(Cell::kind).containsOnly("ClosedLoop");
    assertThat(cells).extracting(Cell::mode).hasSameElementsAs(Mode.all());
    assertThat(cells).extracting(Cell::threads).containsOnly(1, 64);
    assertThat(cells).extracting(Cell::connections).containsOnly(5, 100);
    assertThat(cells).extracting(Cell::duration).containsOnly(Duration.ofSeconds(10));
    assertThat(cells).extracting(Cell::operations).containsOnlyNulls();
    assertThat(cells).extracting(Cell::error).containsOnlyNulls();
    assertThat(cells)
        .extracting(Cell::warmup)
        .containsOnly(new Warmup(Duration.ofSeconds(40), Duration.ofSeconds(8)));
    assertThat(PlanReader.rounds(plan("points"))).isEqualTo(1);
  }

  @Test
  void matrixMeasuresPointsThenFreezesShard() {
    List<String> points = whole("points").titles();
    assertThat(whole("--matrix").titles().subList(0, points.size())).isEqualTo(points);
    assertThat(whole("--matrix").titles()).hasSize(points.size() + 6);
    assertThat(points)
        .contains("legacy, 1 thread, 5 connections", "legacy, 64 threads, 100 connections")
        .hasSize(14);
    assertThat(whole("--matrix").hasLongWarmup()).isTrue();
    assertThat(whole().hasLongWarmup()).isFalse();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          --threads=4 | points --threads=4
          --quick --modes async --duration 20s | points --quick --modes async --duration 20s
          --topology single-host -pa=b | points --topology single-host -pa=b
          --seed-experiment --records 5 --operations 900 | points --seed-experiment --records 5 --operations 900
          --scenario limit --quick | points --threads=1,4,16,64 --quick
          --scenario=limit --threads 2 | points --threads 2
          --quick --scenario shard-freeze --rate 250 | scenario shard-freeze --quick --rate 250
          --scenario fleet --clients 8 | scenario fleet --clients 8
          --topology three-zones --scenario=zones --zones all | zones --topology three-zones --zones all
          --rate 100,300 --arrivals poisson | rate 100,300 --arrivals poisson
          --peer straight --modes async | points --modes async,straight
          """)
  void oldSpellingsRunCurrentCommands(String old, String today) {
    MeasuringCommand before = command(words(old).toArray(String[]::new));
    MeasuringCommand now = command(words(today).toArray(String[]::new));
    assertThat(before).hasSameClassAs(now);
    assertThat(plan(before).titles()).isEqualTo(plan(now).titles());
    assertThat(before.quick).isEqualTo(now.quick);
  }

  @Test
  void benchCommandsHaveFewOptions() {
    CommandLine bench = OneHopCommand.commandLine().getSubcommands().get("bench");
    assertThat(shown(bench.getCommandSpec())).hasSizeLessThanOrEqualTo(14);
    for (String name : List.of("points", "rate", "scenario", "zones", "collect")) {
      assertThat(shown(bench.getSubcommands().get(name).getCommandSpec()))
          .as(name)
          .hasSizeLessThanOrEqualTo(14 + 8);
    }
  }

  private static List<String> shown(CommandSpec command) {
    return command.options().stream()
        .filter(option -> !option.hidden())
        .map(OptionSpec::longestName)
        .filter(name -> !List.of("--help", "--version", "--debug").contains(name))
        .toList();
  }

  @Test
  void quickShortensDefaultsButNotGivenOptions() {
    assertThat(plan("points", "--quick").titles()).allMatch(title -> title.contains("64 threads"));
    assertThat(plan("points", "--quick", "--threads", "8,2,8").titles())
        .allMatch(title -> title.contains(" 8 threads") || title.contains(" 2 threads"));
    List<Cell> quick = PlanReader.cells(plan("points", "--quick"));
    assertThat(quick).extracting(Cell::duration).containsOnly(Duration.ofSeconds(5));
    assertThat(quick).extracting(Cell::warmup).containsOnly(Warmup.UNTIL_STEADY);
    List<Cell> given =
        PlanReader.cells(plan("points", "--quick", "--duration", "1500ms", "--warmup", "7s"));
    assertThat(given).extracting(Cell::duration).containsOnly(Duration.ofMillis(1500));
    assertThat(given)
        .extracting(Cell::warmup)
        .containsOnly(new Warmup(Duration.ofSeconds(7), null));
    List<Cell> warm = PlanReader.cells(plan("points", "--warmup", "70s"));
    assertThat(warm)
        .extracting(Cell::warmup)
        .containsOnly(new Warmup(Duration.ofSeconds(70), null));
    List<Cell> counted = PlanReader.cells(plan("points", "--operations", "900"));
    assertThat(counted).extracting(Cell::operations).containsOnly(900L);
    assertThat(counted).extracting(Cell::duration).containsOnlyNulls();
    assertThat(PlanReader.cells(plan("points", "--connections", "7")))
        .extracting(Cell::connections)
        .containsOnly(7, 100);
    assertThat(PointsCommand.measuredTime(null, false)).isEqualTo(Duration.ofSeconds(10));
    assertThat(PointsCommand.measuredTime(null, true)).isEqualTo(Duration.ofSeconds(5));
    assertThat(PointsCommand.measuredTime(Duration.ofMillis(1500), true))
        .isEqualTo(Duration.ofMillis(1500));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          --scenario nothing | unknown scenario 'nothing'; scenarios: shard-freeze, shard-slow, router-freeze, router-loss, router-kill, fleet
          --scenario limit --rate 5 | Unknown options: '--rate', '5'
          --scenario shard-freeze --rate 0 | rate 0.0: must be above 0 and at most 100000.0
          --scenario shard-freeze --rate NaN | rate NaN: must be above 0 and at most 100000.0
          --scenario shard-freeze --arrivals never | Invalid value for option '--arrivals': expected one of [constant, poisson]
          --scenario shard-freeze --threads 4 | Unknown options: '--threads', '4'
          --scenario shard-freeze --seed-experiment | Unknown option: '--seed-experiment'
          --scenario shard-freeze --rate 5,6 | Invalid value for option '--rate'
          --scenario shard-freeze --existing | the scenario shard-freeze stops or slows servers
          --scenario shard-freeze --url mongodb://a | the scenario shard-freeze stops or slows servers
          --scenario shard-freeze --clients 2 | --clients requires the scenario fleet
          --arrivals poisson | Unknown options: '--arrivals', 'poisson'
          --rate 0 | rate 0.0: must be above 0 and at most 100000.0
          --rate 100,-1 | rate -1.0: must be above 0 and at most 100000.0
          --rate NaN | rate NaN: must be above 0 and at most 100000.0
          --rate 5 --threads 4 | Unknown options: '--threads', '4'
          --rate 5 --operations 4 | Unknown options: '--operations', '4'
          --rate 5 --arrivals never | Invalid value for option '--arrivals'
          --rate 5 --duration 1500ms | --duration must be in whole seconds
          --rate 5 --seed-experiment | Unknown option: '--seed-experiment'
          --matrix --seed-experiment | are mutually exclusive
          --peer fast | unknown mode 'fast'
          --peer straight --url mongodb://a | --modes straight and --url exclude each other
          --scenario zones | bench zones needs a topology of two zones or more, each with a mongos and a member of every shard, such as three-zones
          --scenario zones --topology three-zones --zones some | Invalid value for option '--zones'
          --scenario zones --topology three-zones --arrivals poisson | Unknown options: '--arrivals', 'poisson'
          --zones all | Unknown options: '--zones', 'all'
          --scenario router-loss --topology single-host | the scenario router-loss needs a topology of two mongoses or more
          --scenario fleet --modes legacy | the scenario fleet: legacy needs a thread for each operation; use async modes
          --scenario fleet --clients 0 | --clients 0: must be at least 1
          --clients 0 | --clients 0: must be at least 1
          --clients 1001 | --clients 1001: at most 1000
          --client 0 | --client requires --clients
          --clients 2 --client 1 --run r | --client requires --url: the other clients must reach the same cluster
          --clients 2 --client 2 --run r --url mongodb://a | --client 2: must be from 0 to 1
          --clients 2 --client -1 --run r --url mongodb://a | --client -1: must be from 0 to 1
          --clients 2 --client 1 --url mongodb://a | --client needs --run NAME, the same for all clients of this run
          --clients 2 --peer straight | modes for comparison and --clients exclude each other
          --clients 4 --operations 100 | --operations 100: fewer than the threads of all clients
          --modes fly | unknown mode 'fly'; modes: legacy, async, targeted-async
          --threads 0 | --threads 0: must be at least 1
          --threads 1000000 | --threads 1000000: at most
          --connections 0 | --connections 0: must be at least 1
          --records 0 | --records 0: must be at least 1
          --operations 0 | --operations 0: must be at least 1
          --operations 63 | --operations 63: must be at least the number of threads, 64
          --operations 64 --duration 5s | are mutually exclusive
          --duration 200ms | --duration must be at least 1s
          --records 5 -p recordcount=6 | --records and -p recordcount exclude each other
          --seed-experiment --threads 1 | --seed-experiment sets threads, connections and time
          --seed-experiment --operations 99 | --operations 99: must be at least the number of threads, 100
          -p threadcount=3 | -p threadcount: use --threads
          -p mongodb.url=mongodb://x | -p mongodb.url: the bench sets this property
          -p readproportion=abc | readproportion is 'abc': must be a number from 0 to 1
          -p updateproportion=1.5 | updateproportion is '1.5': must be a number from 0 to 1
          -p fieldcount=0 | fieldcount is '0': must be a whole number above 0
          -p requestdistribution=bogus | requestdistribution is 'bogus': must be one of uniform, exp
          -p recordcount=many | recordcount is 'many', which is not a number
          --workload /no/such/file | cannot read workload /no/such/file: no such file or folder
          """)
  void invalidOptionsAreOneLineUsageErrors(String args, String message) {
    assertThat(refused(words(args))).startsWith("onehop: ").contains(message);
  }

  @Test
  void fleetMeasuresLongerWithMoreClients() {
    PointsPlan plan = whole("--scenario", "fleet");
    assertThat(plan.titles()).contains("fleet, async, 100 threads, 100 connections").hasSize(5);
    assertThat(PlanReader.cells(plan))
        .allMatch(cell -> new Arrivals(500, false, Duration.ofSeconds(30)).equals(cell.arrivals()));
    assertThat(PlanReader.cells(whole("--scenario", "fleet", "--clients", "8")))
        .allMatch(cell -> new Arrivals(500, false, Duration.ofSeconds(25)).equals(cell.arrivals()));
  }

  @Test
  void scenarioMeasuresRoutedModesWithAndWithoutPipelining() {
    PointsPlan plan =
        plan("scenario", "shard-freeze", "--rate", "250", "--modes", "async,direct-async");
    assertThat(PlanReader.cells(plan))
        .extracting(Cell::mode, Cell::connections, Cell::arrivals)
        .containsExactly(
            tuple(Mode.ASYNC, 100, new Arrivals(250, false, Duration.ofSeconds(25))),
            tuple(Mode.DIRECT_ASYNC, 100, new Arrivals(250, false, Duration.ofSeconds(25))),
            tuple(Mode.DIRECT_ASYNC, 5, new Arrivals(250, false, Duration.ofSeconds(25))));
    assertThat(PlanReader.cells(plan("scenario", "shard-freeze", "--arrivals", "poisson")))
        .allMatch(cell -> cell.arrivals().poisson() && cell.arrivals().perSecond() == 300);
  }

  @Test
  void measuresDefaultZoneOrAllZones() {
    assertThat(whole("zones", "--topology", "three-zones").titles())
        .isNotEmpty()
        .allMatch(title -> title.endsWith(" in zone-a"));
    assertThat(whole("zones", "--topology=three-zones", "--zones=all").titles())
        .anyMatch(title -> title.endsWith(" in zone-a"))
        .anyMatch(title -> title.endsWith(" in zone-b"))
        .anyMatch(title -> title.endsWith(" in zone-c"));
    assertThat(PlanReader.cells(whole("zones", "--topology=three-zones")))
        .allMatch(cell -> new Arrivals(300, false, Duration.ofSeconds(12)).equals(cell.arrivals()));
  }

  private ClientPlan clients(@Nullable String podIndex, String... args) {
    PointsCommand command =
        (PointsCommand)
            parse(Stream.concat(Stream.of("points"), Stream.of(args)).toArray(String[]::new));
    return command.clientPlan(command.workload(), podIndex);
  }

  @Test
  void runsAllClientsOrOneByIndex() {
    assertThat(clients(null)).isEqualTo(ClientPlan.ONE);
    assertThat(clients(null, "--clients", "3").count()).isEqualTo(3);
    assertThat(clients(null, "--clients", "3").index()).isNull();
    // The index that Kubernetes sets is used only for several clients on a cluster of the user.
    assertThat(clients("1")).isEqualTo(ClientPlan.ONE);
    assertThat(clients("1", "--clients", "3").index()).isNull();
    assertThat(clients("1", "--url", "mongodb://a", "--clients", "3", "--run", "r"))
        .isEqualTo(new ClientPlan(3, 1, "r"));
    assertThat(
            clients("1", "--url", "mongodb://a", "--clients", "3", "--client", "2", "--run", "r"))
        .isEqualTo(new ClientPlan(3, 2, "r"));
  }

  @Test
  void severalClientsRequireCoreWorkload() throws Exception {
    Files.writeString(workload, "workload=site.ycsb.workloads.TimeSeriesWorkload\n");
    assertThatThrownBy(() -> clients(null, "--clients", "2"))
        .isInstanceOf(Failure.class)
        .hasMessage(
            "--clients needs YCSB's CoreWorkload, not" + " site.ycsb.workloads.TimeSeriesWorkload");
  }

  @Test
  void seedExperimentHasItsOwnParameters() {
    assertThat(command("--seed-experiment").workload().records()).isEqualTo(100_000);
    PointsPlan plan = whole("--seed-experiment");
    for (int threads : List.of(10, 25, 50, 75, 100)) {
      assertThat(plan.titles()).contains("async, " + threads + " threads, 5 connections");
    }
    List<Cell> cells = PlanReader.cells(plan);
    assertThat(cells).extracting(Cell::threads).containsOnly(10, 25, 50, 75, 100);
    assertThat(cells).extracting(Cell::operations).containsOnly(100_000L);
    assertThat(cells).extracting(Cell::duration).containsOnlyNulls();
    assertThat(cells).extracting(Cell::error).containsOnly(0.02);
    assertThat(plan.experiment()).startsWith("The experiment of 2014: 100,000 documents");
    assertThat(whole("--threads", "10").experiment()).isNull();

    MeasuringCommand own = command("--seed-experiment", "--records", "500", "--operations", "900");
    assertThat(own.workload().records()).isEqualTo(500);
    assertThat(plan(own).titles()).isEqualTo(plan.titles());
    assertThat(PlanReader.cells(plan(own))).extracting(Cell::operations).containsOnly(900L);
    assertThat(PlanReader.cells(plan(own)))
        .as("to the last operation")
        .extracting(Cell::error)
        .containsOnlyNulls();
    assertThat(plan(own).experiment()).isNull();
  }

  @Test
  void clientsOfRunUseSameOrderOfPoints() {
    LoadOptions load = new LoadOptions();
    assertThat(load.seed("r")).isEqualTo(load.seed("r"));
    assertThat(load.seed("s")).isNotEqualTo(load.seed("r"));
    load.seed = 7L;
    assertThat(load.seed(null)).isEqualTo(7);
    String[] first = {"points", "--url=mongodb://a", "--clients=2", "--client=0", "--run=r"};
    String[] second = {"points", "--url=mongodb://a", "--clients=2", "--client=1", "--run=r"};
    String[] other = {"points", "--url=mongodb://a", "--clients=2", "--client=1", "--run=s"};
    assertThat(PlanReader.seed(plan(first))).isEqualTo(PlanReader.seed(plan(second)));
    assertThat(PlanReader.seed(plan(other))).isNotEqualTo(PlanReader.seed(plan(first)));
  }

  @Test
  void ratesReplaceThreads() {
    assertThat(plan("--rate", "300,100,300", "--modes", "targeted-async").titles())
        .containsExactly(
            "targeted-async, 100/s, 100 connections",
            "targeted-async, 100/s, 5 connections, pipelined",
            "targeted-async, 300/s, 100 connections",
            "targeted-async, 300/s, 5 connections, pipelined");
    List<Cell> cells = PlanReader.cells(plan("rate", "100,300", "--arrivals", "poisson"));
    assertThat(cells)
        .extracting(Cell::arrivals)
        .containsOnly(
            new Arrivals(100, true, Duration.ofSeconds(10)),
            new Arrivals(300, true, Duration.ofSeconds(10)));
    assertThat(cells).extracting(Cell::warmup).containsOnly(Warmup.UNTIL_STEADY);
    assertThat(PlanReader.cells(plan("rate", "100", "--quick")))
        .extracting(Cell::arrivals)
        .containsOnly(new Arrivals(100, false, Duration.ofSeconds(5)));
  }

  @Test
  void comparisonModesAreAddedToModes() {
    assertThat(
            plan(
                    "--modes",
                    "async",
                    "--peer",
                    "near-mongos,local-threshold-0,pipelined-only",
                    "--threads",
                    "4")
                .titles())
        .containsExactly(
            "async, 4 threads, 5 connections",
            "near-mongos, 4 threads, 5 connections",
            "local-threshold-0, 4 threads, 5 connections",
            "pipelined-only, 4 threads, 5 connections, pipelined");
    assertThat(plan("--modes", "near-mongos", "--threads", "4").titles())
        .as("in addition to the default ones")
        .hasSize(7);
  }

  @Test
  void recordCountOptionOverridesWorkload() {
    assertThat(parse("points").workload().records()).isEqualTo(700);
    assertThat(parse("points", "--records", "50").workload().records()).isEqualTo(50);
    assertThat(parse("points", "-p", "recordcount=60").workload().records()).isEqualTo(60);
    Workload shifted = parse("points", "--records", "50", "-p", "insertstart=1000").workload();
    assertThat(shifted.records()).isEqualTo(50);
    assertThat(shifted.properties()).containsEntry("recordcount", "1050");
  }

  @Test
  void ignoresThreadCountOfWorkloadFile() {
    assertThat(parse("points").workload().properties()).doesNotContainKey("threadcount");
  }

  @Test
  void rejectsInvalidWorkloadFile() throws Exception {
    Files.writeString(workload, "hello\n");
    assertThatThrownBy(() -> plan("points"))
        .isInstanceOf(Failure.class)
        .hasMessageContaining("no workload");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '"',
      value = {
        "bench --nope | Unknown option: '--nope'",
        "bench --threads x | Invalid value for option '--threads'",
        "bench --duration soon | 'soon' is not a duration; write 500ms, 10s, 2m or 1h",
        "bench --fcv six | --fcv six: write it as X.Y",
        "bench --url mongodb://a points | --url has no effect before the command points",
        "bench --matrix points | --matrix has no effect before the command points",
        "bench --quick --out=x scenario fleet | --quick has no effect before the command scenario",
        "bench points --modes , | --modes has an empty name",
        "bench points --topology single-host --tls-ca /no/such | --tls-ca /no/such: no such file",
        "bench points --existing --key-file /no/such | --key-file /no/such: no such file",
        "bench join --data pom.xml | --data pom.xml is not a folder",
        "generate-completion --shell zsh | onehop: Unknown options: '--shell'",
        "generate-completion zsh | onehop: Unmatched argument at index 1: 'zsh'",
        "bench points --threads 1,1 | onehop: --threads has 1 twice",
        "bench rate 100,5,100 | onehop: RATE has 100.0 twice",
        "bench points --modes async --modes async | onehop: --modes has async twice",
        "bench points --duration 2s --operations 9 | onehop: --duration=TIME, --operations=N are"
            + " mut",
        "bench --key-file pom.xml | onehop: --key-file requires --existing",
        "bench --tls-ca pom.xml | onehop: --tls-ca requires --existing or --url",
        "topology up --key-file pom.xml | onehop: --key-file requires --existing",
        "bench --existing --mongod /bin/sh | onehop: --mongod and --existing exclude each other",
        "bench points --modes straight --url mongodb://a | onehop: --modes straight and --url"
            + " exclude",
        "fly | Unmatched argument at index 0: 'fly'",
        "report | Missing required parameter: 'DIR'",
        "report /no/such/folder | there is no folder /no/such/folder"
      })
  void usageErrorsAreOneLineAndExitCodeTwo(String args, String message) {
    StringWriter err = new StringWriter();
    int exitCode =
        OneHopCommand.commandLine().setErr(new PrintWriter(err)).execute(args.split(" "));
    assertThat(exitCode).isEqualTo(2);
    List<String> lines = err.toString().lines().toList();
    assertThat(lines).hasSize(1);
    assertThat(lines.get(0)).startsWith("onehop: ").contains(message);
  }

  @Test
  void debugShowsTheStackTrace() {
    StringWriter err = new StringWriter();
    OneHopCommand.commandLine()
        .setErr(new PrintWriter(err))
        .execute("report", "/no/such/folder", "--debug");
    assertThat(err.toString()).contains("\tat dev.onehop.cli.ReportCommand");
  }

  @Test
  void everyCommandHasHelpWithExamples() {
    CommandLine line = OneHopCommand.commandLine();
    assertThat(line.getUsageMessage()).contains("Example");
    line.getSubcommands()
        .forEach(
            (name, command) -> assertThat(command.getUsageMessage()).as(name).contains("Example"));
  }

  @Test
  void wordsAreQuotedForTheShell() {
    assertThat(Shell.quote("a=b,c/d.e")).isEqualTo("a=b,c/d.e");
    assertThat(Shell.quote("it's")).isEqualTo("'it'\\''s'");
    assertThat(Shell.quote("")).isEqualTo("''");
  }
}
