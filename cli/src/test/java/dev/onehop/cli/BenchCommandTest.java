package dev.onehop.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onehop.cli.bench.BenchPlan;
import dev.onehop.cli.bench.Mode;
import dev.onehop.cli.bench.Workload;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
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
  void defaultsAreThoseOfTheHelp() {
    BenchPlan plan = plan();
    assertThat(plan.modes()).isEqualTo(Mode.all());
    assertThat(plan.threads()).containsExactly(1, 4, 16, 64);
    assertThat(plan.connections()).isEqualTo(5);
    assertThat(plan.duration()).isEqualTo(Duration.ofSeconds(10));
    assertThat(plan.operations()).isNull();
  }

  @Test
  void quickShortensDefaultsButNotWhatWasGiven() {
    assertThat(plan("--quick").threads()).containsExactly(1, 16, 64);
    assertThat(plan("--quick").duration()).isEqualTo(Duration.ofSeconds(5));
    assertThat(plan("--quick").warmup()).isEqualTo(Duration.ofSeconds(3));
    assertThat(plan("--warmup", "7s").warmup()).isEqualTo(Duration.ofSeconds(7));
    assertThat(plan("--topology", "single-host").warmup()).isEqualTo(Duration.ofSeconds(25));
    assertThat(plan("--topology", "single-host", "--quick").warmup())
        .isEqualTo(Duration.ofSeconds(15));
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
          --scenario nothing | unknown scenario 'nothing'; scenarios: shard-freeze, shard-slow, router-freeze, router-loss
          --scenario shard-freeze --rate 0 | --rate 0.0: must be above 0 and at most 100000.0
          --scenario shard-freeze --rate NaN | --rate NaN: must be above 0 and at most 100000.0
          --scenario shard-freeze --arrivals never | --arrivals takes constant or poisson, and not 'never'
          --scenario shard-freeze --threads 4 | --threads and --scenario exclude each other
          --scenario shard-freeze --seed-experiment | --seed-experiment and --scenario exclude each other
          --rate 5 | --rate goes with --scenario
          --arrivals poisson | --arrivals goes with --scenario
          """)
  void aScenarioThatCannotBeIsSaidInOneLine(String args, String message) {
    assertThatThrownBy(() -> plan(args.split(" ", -1)))
        .isInstanceOf(Failure.class)
        .hasMessage(message);
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
        "--seed-experiment --threads 1 | --threads and --seed-experiment exclude each other",
        "-p threadcount=3 | -p threadcount: use --threads",
        "-p mongodb.url=mongodb://x | -p mongodb.url: the bench sets this one itself",
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
