package dev.onehop.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onehop.measure.delivery.ConsumePlan;
import dev.onehop.measure.delivery.StreamPath;
import dev.onehop.resync.Failure;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

class ConsumeCommandTest {

  @TempDir private Path folder;

  private static ConsumeCommand parse(String... args) {
    CommandLine line = OneHopCommand.commandLine();
    String[] all = new String[args.length + 1];
    all[0] = "consume";
    System.arraycopy(args, 0, all, 1, args.length);
    line.parseArgs(all);
    return line.getSubcommands().get("consume").getCommand();
  }

  private static ConsumePlan plan(String... args) {
    ConsumeCommand command = parse(args);
    return command.plan(command.where.topology());
  }

  @Test
  void measuresEverythingOnSingleHostByDefault() {
    assertThat(parse().where.topology().name()).isEqualTo("single-host");
    assertThat(plan())
        .isEqualTo(
            new ConsumePlan(
                List.of("drain", "live", "idle-shard"),
                List.of(StreamPath.MONGOS, StreamPath.DIRECT),
                List.of(1, 4, 8, 32, 64),
                1,
                false,
                null,
                500,
                200_000,
                Duration.ofSeconds(5),
                Duration.ofSeconds(3)));
  }

  @Test
  void quickShortensDefaultsButNotGivenOptions() {
    assertThat(plan("--quick").channels()).containsExactly(1, 64);
    assertThat(plan("--quick").rows()).isEqualTo(100_000);
    assertThat(plan("--quick", "--channels", "8,2,8", "--rows", "5000").channels())
        .containsExactly(2, 8);
    assertThat(plan("--quick", "--rows", "5000").rows()).isEqualTo(5_000);
  }

  @Test
  void optionsSelectMeasurements() {
    assertThat(plan("--measure", "drain").kinds()).containsExactly("drain");
    assertThat(plan("--measure", "live,drain", "--rate", "7").kinds())
        .containsExactly("drain", "live");
    assertThat(plan("--measure", "live, drain").kinds()).containsExactly("drain", "live");
    assertThat(plan("--measure", "all").kinds()).hasSize(3);
    assertThat(plan("--rate", "700").kinds()).containsExactly("live");
    assertThat(plan("--rate", "700").rate()).isEqualTo(700);
    ConsumePlan idle = plan("--measure", "idle-shard");
    assertThat(idle.kinds()).containsExactly("idle-shard");
    assertThat(idle.duration()).isEqualTo(Duration.ofSeconds(10));
    assertThat(idle.idleRate()).isEqualTo(500);
    assertThat(plan("--measure", "idle-shard", "--rate", "20").idleRate()).isEqualTo(20);
    assertThat(plan("--order", "total").total()).isTrue();
    assertThat(plan("--source", "direct").sources()).containsExactly(StreamPath.DIRECT);
    assertThat(plan("--processes", "2").channels()).containsExactly(4, 8, 32, 64);
    assertThat(plan("--url", "mongodb://a").kinds()).hasSize(3);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          --source oplog | unknown source 'oplog'; sources: mongos, direct
          --channels 0 | --channels 0: must be from 1 to 128
          --channels 4,129 | --channels 129: must be from 1 to 128
          --processes 3 | --processes 3: must be 1 or 2
          --processes 2 --channels 1,4 | --processes 2 needs 2 channels or more, not --channels 1
          --order random | --order takes key or total, not 'random'
          --order key --source mongos | --order applies only to --source direct: a mongos always returns events in total order
          --rate 0 | --rate 0.0: must be from 1 to 1000000
          --rate NaN | --rate NaN: must be from 1 to 1000000
          --measure sip | unknown measurement 'sip'; measurements: drain, live, idle-shard
          --measure drain --rate 5 | --rate has no effect if only drain is measured; add --measure live
          --drain --duration 5s | --duration has no effect if only drain is measured; add --measure live
          --live --rows 5000 | --rows requires --measure drain
          --noop 5 --existing | --noop and --existing exclude each other
          --url mongodb://a --noop 5 | --noop and --url exclude each other
          --rows 10 | --rows 10: must be from 1000 to 100000000
          --duration 500ms | --duration must be from 1s to 1h
          --duration 2h | --duration must be from 1s to 1h
          --overwrite | --overwrite requires --url
          --url mongodb://a --topology us-2014 | --topology and --url exclude each other
          --url mongodb://a --mongod /bin/true | --mongod and --url exclude each other
          """)
  void rejectsInvalidOptions(String args, String message) {
    assertThatThrownBy(() -> plan(args.split(" ")))
        .isInstanceOf(Failure.class)
        .hasMessageStartingWith(message)
        .satisfies(e -> assertThat(((Failure) e).exitCode()).isEqualTo(2));
  }

  @Test
  void rejectsUnknownTopology() {
    StringWriter err = new StringWriter();
    int exitCode =
        OneHopCommand.commandLine()
            .setErr(new PrintWriter(err))
            .execute("consume", "--topology", "nowhere");
    assertThat(err.toString()).startsWith("onehop: no topology 'nowhere'");
    assertThat(exitCode).isEqualTo(2);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          --channels many | Invalid value for option '--channels'
          --duration 5 | is not a duration; write 500ms, 10s, 2m or 1h
          --chanels 4 | Unknown option
          --measure drain --rate 5 | --rate has no effect if only drain is measured; add --measure live
          --mongod /nowhere/mongod | --mongod /nowhere/mongod: no such file
          """)
  void invalidInputIsOneLineErrorWithoutResults(String args, String message) throws Exception {
    StringWriter err = new StringWriter();
    Path out = folder.resolve("out");
    int exitCode =
        OneHopCommand.commandLine()
            .setErr(new PrintWriter(err))
            .execute(("consume --out " + out + " " + args).split(" "));

    assertThat(exitCode).isEqualTo(2);
    assertThat(err.toString().lines()).hasSize(1);
    assertThat(err.toString()).startsWith("onehop: ").contains(message);
    assertThat(Files.exists(out)).isFalse();
  }

  @Test
  void rejectsNonEmptyFolder() throws Exception {
    Files.writeString(folder.resolve("results.json"), "{}");
    StringWriter err = new StringWriter();
    int exitCode =
        OneHopCommand.commandLine()
            .setErr(new PrintWriter(err))
            .execute("consume", "--out", folder.toString());

    assertThat(exitCode).isEqualTo(2);
    assertThat(err.toString())
        .isEqualTo("onehop: --out " + folder + " is not empty: name a new folder\n");
  }

  @Test
  void measurementNamesRemainOptions() {
    assertThat(plan("--drain", "--live").kinds()).containsExactly("drain", "live");
    assertThat(plan("--idle-shard").kinds()).containsExactly("idle-shard");
  }

  @Test
  void consumeIsACommandOfBench() {
    CommandLine line = OneHopCommand.commandLine();
    line.parseArgs("bench", "consume", "--quick");
    ConsumeCommand command =
        line.getSubcommands().get("bench").getSubcommands().get("consume").getCommand();

    assertThat(command.plan(command.where.topology())).isEqualTo(plan("--quick"));
  }

  @Test
  void helpShowsDefaultsAndExamples() {
    StringWriter help = new StringWriter();
    int exitCode =
        OneHopCommand.commandLine().setOut(new PrintWriter(help)).execute("consume", "--help");

    assertThat(exitCode).isZero();
    assertThat(help.toString())
        .contains("onehop consume --quick", "idle-shard")
        .containsPattern("Default:\\s+1,4,8,32,64")
        .containsPattern("Default:\\s+single-host")
        .doesNotContain("--drain");
  }
}
