package dev.onehop.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onehop.measure.points.BenchPlan;
import dev.onehop.measure.points.ClientPlan;
import dev.onehop.measure.points.Mode;
import dev.onehop.measure.points.RatePlan;
import dev.onehop.measure.points.Scenario;
import dev.onehop.measure.points.ScenarioPlan;
import dev.onehop.measure.points.Workload;
import dev.onehop.measure.points.ZonesPlan;
import dev.onehop.resync.Failure;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

class BenchCommandTest {

  @TempDir private Path folder;
  private Path workload;

  @BeforeEach
  void writeWorkload() throws Exception {
    workload =
        Files.writeString(
            folder.resolve("mine"),
            "workload=site.ycsb.workloads.CoreWorkload\nrecordcount=700\nthreadcount=9\n");
  }

  private BenchCommand parse(String... args) {
    CommandLine line = OneHopCommand.commandLine();
    String[] all = new String[args.length + 3];
    all[0] = "bench";
    all[1] = "--workload";
    all[2] = workload.toString();
    System.arraycopy(args, 0, all, 3, args.length);
    line.parseArgs(all);
    return line.getSubcommands().get("bench").getCommand();
  }

  private BenchPlan plan(String... args) {
    BenchCommand command = parse(args);
    return command.plan(command.workload().records(), command.topology());
  }

  @Test
  void zonesAreOfTheClientOrAll() {
    ScenarioPlan one = plan("--scenario", "zones", "--topology", "three-zones").scenario();
    assertThat(one.zones()).isEqualTo(new ZonesPlan(List.of("zone-a")));
    ScenarioPlan all =
        plan("--scenario=zones", "--topology=three-zones", "--zones=all")
            .scenario();
    assertThat(all.zones()).isEqualTo(new ZonesPlan(List.of("zone-a", "zone-b", "zone-c")));
  }

  @Test
  void whereNoResultsCanBeWrittenNothingIsStarted() throws Exception {
    Path file = Files.createFile(folder.resolve("a-file"));
    for (Path out : List.of(file, file.resolve("below"))) {
      BenchCommand command = parse("--out", out.toString());
      assertThatThrownBy(command::call)
          .isInstanceOfSatisfying(
              Failure.class, e -> assertThat(e.exitCode()).isEqualTo(Failure.USAGE))
          .hasMessageContaining("--out " + out);
    }
  }

  @Test
  void defaultsAreThoseOfTheHelp() {
    BenchPlan plan = plan();
    assertThat(plan.modes()).isEqualTo(Mode.all());
    assertThat(plan.threads()).containsExactly(1, 64);
    assertThat(plan.connections()).isEqualTo(5);
    assertThat(plan.duration()).isEqualTo(Duration.ofSeconds(10));
    assertThat(plan.operations()).isNull();
    assertThat(plan.rate()).isNull();
    assertThat(plan.warmup()).isEqualTo(Duration.ofSeconds(40));
    assertThat(plan.leastWarmup()).isEqualTo(Duration.ofSeconds(8));
  }

  @Test
  void aFrozenShardFollowsWhereNothingSaysWhatToMeasure() {
    assertThat(whole().scenario().scenario()).isEqualTo(Scenario.SHARD_FREEZE);
    assertThat(whole().scenario().brief()).isFalse();
    assertThat(whole("--quick", "--topology", "atlas-3-region").scenario().brief()).isTrue();
    for (String option :
        List.of("--threads=4", "--modes=async", "--rounds=5", "--peer=straight", "-pa=b")) {
      assertThat(whole(option).scenario()).as(option).isNull();
    }
    assertThat(plan().scenario()).as("a workload").isNull();
    assertThat(whole("--scenario", "limit").scenario()).isNull();
    assertThat(whole("--scenario", "limit").threads()).containsExactly(1, 4, 16, 64);
    assertThat(plan("--scenario", "shard-freeze").threads()).isEmpty();
  }

  /** The plan of a command line without a workload. */
  private static BenchPlan whole(String... args) {
    CommandLine line = OneHopCommand.commandLine();
    line.parseArgs(Stream.concat(Stream.of("bench"), Stream.of(args)).toArray(String[]::new));
    BenchCommand command = line.getSubcommands().get("bench").getCommand();
    return command.plan(10_000, command.topology());
  }

  @Test
  void quickShortensDefaultsButNotWhatWasGiven() {
    assertThat(plan("--quick").threads()).containsExactly(64);
    assertThat(plan("--quick").duration()).isEqualTo(Duration.ofSeconds(5));
    assertThat(plan("--quick").leastWarmup()).isEqualTo(Duration.ofSeconds(8));
    assertThat(plan("--warmup", "7s").warmup()).isEqualTo(Duration.ofSeconds(7));
    assertThat(plan("--warmup", "70s").leastWarmup()).isNull();
    BenchPlan given = plan("--quick", "--threads", "8,2,8", "--duration", "1500ms");
    assertThat(given.threads()).containsExactly(2, 8);
    assertThat(given.duration()).isEqualTo(Duration.ofMillis(1500));
  }

  @Test
  void aScenarioHasClientsWithTheDriversPoolAndPipelinedOnes() {
    BenchPlan plan =
        plan("--scenario", "shard-freeze", "--rate", "250", "--modes", "async,direct-async");

    assertThat(plan.scenario()).isNotNull();
    assertThat(plan.scenario().rate()).isEqualTo(250);
    assertThat(plan.scenario().poisson()).isFalse();
    assertThat(plan("--scenario", "shard-freeze", "--arrivals", "poisson").scenario().poisson())
        .isTrue();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          --scenario nothing | unknown scenario 'nothing'; scenarios: shard-freeze, shard-slow, router-freeze, router-loss, router-kill, zones, fleet, limit
          --scenario limit --rate 5 | --rate and --scenario limit exclude each other
          --scenario shard-freeze --rate 0 | --rate 0.0: must be above 0 and at most 100000.0
          --scenario shard-freeze --rate NaN | --rate NaN: must be above 0 and at most 100000.0
          --scenario shard-freeze --arrivals never | --arrivals takes constant or poisson, and not 'never'
          --scenario shard-freeze --threads 4 | --threads and --scenario exclude each other
          --scenario shard-freeze --seed-experiment | --seed-experiment and --scenario exclude each other
          --scenario shard-freeze --rate 5,6 | --rate takes one rate with --scenario
          --arrivals poisson | --arrivals goes with --rate or --scenario
          --rate 0 | --rate 0.0: must be above 0 and at most 100000.0
          --rate 100,-1 | --rate -1.0: must be above 0 and at most 100000.0
          --rate NaN | --rate NaN: must be above 0 and at most 100000.0
          --rate 5 --threads 4 | --threads and --rate exclude each other
          --rate 5 --operations 4 | --operations and --rate exclude each other
          --rate 5 --arrivals never | --arrivals takes constant or poisson, and not 'never'
          --rate 5 --duration 1500ms | --duration with --rate takes whole seconds
          --rate 5 --seed-experiment | --seed-experiment and --rate exclude each other
          --peer fast | --peer takes straight, near-mongos, local-threshold-0 or pipelined-only, and not 'fast'
          --scenario zones | --scenario zones needs a topology with a mongos and a member of every shard in each of two regions or more, such as three-zones
          --scenario zones --topology three-zones --zones some | --zones takes one or all, and not 'some'
          --scenario zones --topology three-zones --arrivals poisson | --arrivals and --scenario zones exclude each other
          --scenario shard-freeze --zones all | --zones goes with --scenario zones
          --zones all | --zones goes with --scenario zones
          --scenario router-loss --topology single-host | --scenario router-loss needs a topology of two mongoses or more
          --scenario fleet --modes legacy | --scenario fleet: legacy needs a thread for each operation; use async modes
          --scenario fleet --clients 0 | --clients 0: must be at least 1
          """)
  void aScenarioThatCannotBeIsSaidInOneLine(String args, String message) {
    assertThatThrownBy(() -> plan(args.split(" ", -1)))
        .isInstanceOf(Failure.class)
        .hasMessage(message);
  }

  @Test
  void aFleetHasFiftyInstancesThatAllHaveThreeTurns() {
    BenchPlan plan = plan("--scenario", "fleet");

    assertThat(plan.modes()).containsExactly(Mode.ASYNC, Mode.TARGETED_ASYNC, Mode.DIRECT_ASYNC);
    assertThat(plan.scenario().duration()).isEqualTo(Duration.ofSeconds(30));
    assertThat(clients(null, "--scenario", "fleet").count()).isEqualTo(50);
    assertThat(clients(null, "--scenario", "fleet", "--clients", "8").count()).isEqualTo(8);
    assertThat(plan("--scenario", "fleet", "--clients", "8").scenario().duration())
        .isEqualTo(Duration.ofSeconds(25));
  }

  private ClientPlan clients(@Nullable String podIndex, String... args) {
    BenchCommand command = parse(args);
    command.plan(command.workload().records(), command.topology());
    return command.clientPlan(command.workload(), podIndex);
  }

  @Test
  void severalClientsRunHereOrOneOfThem() {
    assertThat(clients(null)).isEqualTo(ClientPlan.ONE);
    assertThat(clients(null, "--clients", "3").count()).isEqualTo(3);
    assertThat(clients(null, "--clients", "3").index()).isNull();
    // Kubernetes' index is for those who ask for several clients on a cluster of their own.
    assertThat(clients("1")).isEqualTo(ClientPlan.ONE);
    assertThat(clients("1", "--clients", "3").index()).isNull();
    assertThat(clients("1", "--url", "mongodb://a", "--clients", "3", "--run", "r"))
        .isEqualTo(new ClientPlan(3, 1, "r"));
    assertThat(
            clients("1", "--url", "mongodb://a", "--clients", "3", "--client", "2", "--run", "r"))
        .isEqualTo(new ClientPlan(3, 2, "r"));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          --clients 0 | --clients 0: must be at least 1
          --clients 1001 | --clients 1001: at most 1000
          --client 0 | --client goes with --clients
          --clients 2 --client 1 --run r | --client goes with --url: the others must find the same cluster
          --clients 2 --client 2 --run r --url mongodb://a | --client 2: must be from 0 to 1
          --clients 2 --client -1 --run r --url mongodb://a | --client -1: must be from 0 to 1
          --clients 2 --client 1 --url mongodb://a | --client needs --run NAME, the same for all clients of this run
          --clients 2 --scenario shard-freeze | --scenario and --clients exclude each other
          --clients 2 --peer straight | --peer and --clients exclude each other
          --clients 4 --operations 100 | --operations 100: fewer than threads of all clients
          """)
  void clientsThatCannotBeAreSaidInOneLine(String args, String message) {
    assertThatThrownBy(() -> clients(null, args.split(" ", -1)))
        .isInstanceOf(Failure.class)
        .hasMessage(message);
  }

  @Test
  void severalClientsNeedAWorkloadWhoseKeysCanBeToldApart() throws Exception {
    Files.writeString(workload, "workload=site.ycsb.workloads.TimeSeriesWorkload\n");
    assertThatThrownBy(() -> clients(null, "--clients", "2"))
        .isInstanceOf(Failure.class)
        .hasMessage(
            "--clients needs YCSB's own CoreWorkload, and not"
                + " site.ycsb.workloads.TimeSeriesWorkload");
  }

  @Test
  void theSeedExperimentHasItsOwnParameters() {
    BenchCommand command = parse("--seed-experiment");
    assertThat(command.workload().records()).isEqualTo(100_000);
    BenchPlan plan = command.plan(100_000, command.topology());
    assertThat(plan.threads()).containsExactly(10, 25, 50, 75, 100);
    assertThat(plan.operations()).isEqualTo(100_000);
    assertThat(plan.duration()).isNull();
    assertThat(plan.connections()).isEqualTo(5);
    assertThat(plan.error()).isEqualTo(0.02);
    assertThat(plan.experiment()).startsWith("The experiment of 2014: 100,000 documents");
    BenchPlan own = plan("--seed-experiment", "--records", "500", "--operations", "900");
    assertThat(own.records()).isEqualTo(500);
    assertThat(own.operations()).isEqualTo(900);
    assertThat(own.threads()).containsExactly(10, 25, 50, 75, 100);
    assertThat(own.error()).as("to the last operation").isNull();
    assertThat(own.experiment()).isNull();
    assertThat(plan("--threads", "10").experiment()).isNull();
  }

  @Test
  void allClientsOfARunMeasureThePointsInTheSameOrder() {
    String[] first = {"--url", "mongodb://a", "--clients", "2", "--client", "0", "--run", "r"};
    String[] second = {"--url", "mongodb://a", "--clients", "2", "--client", "1", "--run", "r"};
    assertThat(plan(first).seed()).isEqualTo(plan(second).seed());
    String[] other = {"--url", "mongodb://a", "--clients", "2", "--client", "1", "--run", "s"};
    assertThat(plan(other).seed()).isNotEqualTo(plan(first).seed());
  }

  @Test
  void ratesTakeThePlaceOfThreads() {
    BenchPlan plan = plan("--rate", "300,100,300", "--arrivals", "poisson", "--seed", "7");

    assertThat(plan.rate()).isEqualTo(new RatePlan(List.of(100.0, 300.0), true));
    assertThat(plan.seed()).isEqualTo(7);
    assertThat(plan.duration()).isEqualTo(Duration.ofSeconds(10));
  }

  @Test
  void cheapRivalsStandBesideTheModes() {
    assertThat(
            plan("--modes", "async", "--peer", "near-mongos,local-threshold-0,pipelined-only")
                .modes())
        .containsExactly(Mode.ASYNC, Mode.NEAR_MONGOS, Mode.LOCAL_THRESHOLD_0, Mode.PIPELINED_ONLY);
  }

  @Test
  void aWorkloadsOwnRecordCountCountsUnlessAnotherIsGiven() {
    assertThat(plan().records()).isEqualTo(700);
    assertThat(plan("--records", "50").records()).isEqualTo(50);
    assertThat(plan("-p", "recordcount=60").records()).isEqualTo(60);
    Workload shifted = parse("--records", "50", "-p", "insertstart=1000").workload();
    assertThat(shifted.records()).isEqualTo(50);
    assertThat(shifted.properties()).containsEntry("recordcount", "1050");
  }

  @Test
  void whatTheBenchSetsItselfIsNotTakenFromTheFile() {
    assertThat(parse().workload().properties()).doesNotContainKey("threadcount");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '"',
      value = {
        "--modes fly | unknown mode 'fly'; modes: legacy, async, targeted-async",
        "--threads 0 | --threads 0: must be at least 1",
        "--threads 1000000 | --threads 1000000: at most",
        "--connections 0 | --connections 0: must be at least 1",
        "--records 0 | --records 0: must be at least 1",
        "--operations 0 | --operations 0: must be at least 1",
        "--operations 63 | --operations 63: fewer than threads (64)",
        "--operations 5 --duration 5s | --operations and --duration exclude each other",
        "--duration 200ms | --duration must be at least 1s",
        "--records 5 -p recordcount=6 | --records and -p recordcount exclude each other",
        "--seed-experiment --quick | --quick and --seed-experiment exclude each other",
        "--seed-experiment --operations 99 | --operations 99: fewer than threads (100)",
        "--seed-experiment --threads 1 | --threads and --seed-experiment exclude each other",
        "-p threadcount=3 | -p threadcount: use --threads",
        "-p mongodb.url=mongodb://x | -p mongodb.url: the bench sets this one itself",
        "-p readproportion=abc | readproportion is 'abc': must be a number from 0 to 1",
        "-p updateproportion=1.5 | updateproportion is '1.5': must be a number from 0 to 1",
        "-p fieldcount=0 | fieldcount is '0': must be a whole number above 0",
        "-p requestdistribution=bogus | requestdistribution is 'bogus': must be one of uniform, exp",
        "-p recordcount=many | recordcount is 'many', which is no number",
        "--workload /no/such/file | cannot read workload /no/such/file: no such file or folder"
      })
  void whatMakesNoSenseIsAUsageErrorInOneLine(String args, String message) {
    assertThatThrownBy(() -> plan(args.split(" ")))
        .isInstanceOfSatisfying(
            Failure.class,
            e -> {
              assertThat(e.exitCode()).isEqualTo(Failure.USAGE);
              assertThat(e).hasMessageStartingWith(message);
              assertThat(e.getMessage()).doesNotContain("\n");
            });
  }

  @Test
  void aFileThatIsNoWorkloadIsRefused() throws Exception {
    Files.writeString(workload, "hello\n");
    assertThatThrownBy(this::plan).isInstanceOf(Failure.class).hasMessageContaining("no workload");
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
        "fly | Unmatched argument at index 0: 'fly'",
        "report | Missing required parameter: 'DIR'",
        "report /no/such/folder | no folder /no/such/folder"
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
  void everyCommandHasAHelpWithExamples() {
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
