package dev.onehop.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onehop.measure.delivery.Measurement;
import dev.onehop.measure.delivery.PropagatePlan;
import dev.onehop.resync.Failure;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

class PropagateCommandTest {

  @TempDir private Path folder;

  private static PropagateCommand parse(String... args) {
    CommandLine line = OneHopCommand.commandLine();
    String[] all = new String[args.length + 1];
    all[0] = "propagate";
    System.arraycopy(args, 0, all, 1, args.length);
    line.parseArgs(all);
    return line.getSubcommands().get("propagate").getCommand();
  }

  private static PropagatePlan plan(String... args) {
    PropagateCommand command = parse(args);
    command.where.topology();
    return command.plan();
  }

  @Test
  void measuresEverythingWithoutTerminal() {
    assertThat(parse().where.topology().name()).isEqualTo("single-host");
    assertThat(plan())
        .isEqualTo(
            new PropagatePlan(
                List.of(Measurement.values()),
                5,
                List.of(1_000),
                List.of(100),
                List.of(200),
                null,
                Duration.ofSeconds(1),
                false,
                List.of(1, 4, 8),
                2,
                20,
                Duration.ofSeconds(5)));
  }

  @Test
  void optionsSelectMeasurements() {
    PropagatePlan plan =
        plan(
            "--measure=load,bootstrap",
            "--documents=500,50",
            "--batch=50,1,10",
            "--tests=2",
            "--order=total",
            "--rate=0.5");
    assertThat(plan.measurements()).containsExactly(Measurement.LOAD, Measurement.BOOTSTRAP);
    assertThat(plan.documents()).containsExactly(50, 500);
    assertThat(plan.batches()).containsExactly(1, 10, 50);
    assertThat(plan.tests()).isEqualTo(2);
    assertThat(plan.total()).isTrue();
    assertThat(plan.rate()).isEqualTo(0.5);
    assertThat(plan("--quick").documents()).containsExactly(200);
    assertThat(plan("--documents=10").batches()).containsExactly(10);
  }

  @Test
  void allSelectsEveryMeasurement() {
    assertThat(plan("--measure=all,load").measurements()).containsExactly(Measurement.values());
    assertThat(plan("--measure=load, all").measurements()).containsExactly(Measurement.values());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          --measure latency | unknown measurement 'latency'; measurements: client-to-client, mongo-
          --tests 0 | --tests 0: must be from 1 to 10000
          --documents 0,5 | --documents 0: must be from 1 to 10000000
          --batch 0 | --batch 0: must be from 1 to 100000
          --documents 10,100 --batch 50 | --batch 50: a test has only 10 objects
          --bytes 99 | --bytes 99: must be from 100 to 1048576
          --rate 0 | --rate 0.0: must be above 0 and up to 100000
          --rate NaN | --rate NaN: must be above 0 and up to 100000
          --client-rate -1 | --client-rate -1.0: must be above 0 and up to 100000
          --await 0s | --await must be above 0 and up to 60s
          --await 2m | --await must be above 0 and up to 60s
          --order random | --order takes key or total, not 'random'
          --measure bootstrap --clients 2 | --clients requires --measure load
          --measure bootstrap --client-rate 2 | --client-rate requires --measure load
          --measure client-to-mongo --duration 2s | --duration requires --measure load
          --measure all,latency | unknown measurement 'latency'
          --clients 0 | --clients 0: must be from 1 to 1000
          --processes 65 | --processes 65: must be from 1 to 64
          --duration 100ms | --duration must be from 1s to 1h
          --noop 5 --existing | --noop and --existing exclude each other
          --overwrite | --overwrite requires --url
          --url mongodb://a --topology us-2014 | --topology and --url exclude each other
          --url mongodb://a --noop 5 | --noop and --url exclude each other
          """)
  void rejectsInvalidOptions(String args, String message) {
    assertThatThrownBy(() -> plan(args.split(" ")))
        .isInstanceOf(Failure.class)
        .hasMessageStartingWith(message)
        .satisfies(e -> assertThat(((Failure) e).exitCode()).isEqualTo(2));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          --tests many | Invalid value for option '--tests'
          --await 1 | is not a duration; write 500ms, 10s, 2m or 1h
          --mesure load | Unknown option
          --noop 0 | --noop 0: must be from 1 to 3600
          --peer b:7017 | Unknown option
          --listen 7017 | Unknown option
          --url mongodb://u:p@a | --url: leave the password out
          --url mongodb://u@a | --url names the user u: set ONEHOP_PASSWORD as well
          --url http://a | --url: The connection string is invalid
          --mongod /no/such/file | --mongod /no/such/file: no such file
          """)
  void invalidInputIsOneLineErrorWithoutResults(String args, String message) {
    StringWriter err = new StringWriter();
    String[] all = ("propagate --out " + folder.resolve("out") + " " + args).split(" ");

    int exitCode = OneHopCommand.commandLine().setErr(new PrintWriter(err)).execute(all);

    assertThat(exitCode).isEqualTo(2);
    assertThat(err.toString()).startsWith("onehop: ").contains(message).hasLineCount(1);
    assertThat(folder.resolve("out/results.json")).doesNotExist();
  }

  @Test
  void rejectsNonEmptyFolder() throws Exception {
    Files.writeString(folder.resolve("precious"), "");
    StringWriter err = new StringWriter();

    int exitCode =
        OneHopCommand.commandLine()
            .setErr(new PrintWriter(err))
            .execute("propagate", "--out", folder.toString());

    assertThat(exitCode).isEqualTo(2);
    assertThat(err.toString()).contains("is not empty");
  }

  @Test
  void answersBecomeOptions() throws Exception {
    InputStream in = System.in;
    PrintStream err = System.err;
    ByteArrayOutputStream shown = new ByteArrayOutputStream();
    System.setIn(new ByteArrayInputStream("2\n2\n20\n30\n10\n".getBytes(StandardCharsets.UTF_8)));
    System.setErr(new PrintStream(shown, true, StandardCharsets.UTF_8));
    System.setProperty("onehop.prompts", "true");
    try {
      CommandLine line = OneHopCommand.commandLine().setErr(new PrintWriter(new StringWriter()));

      // No server listens on that port, so the run fails after the questions.
      line.execute(
          "propagate",
          "--url=mongodb://127.0.0.1:1/?serverSelectionTimeoutMS=100",
          "--out=" + folder.resolve("out"));
      PropagateCommand command = line.getSubcommands().get("propagate").getCommand();

      assertThat(shown.toString(StandardCharsets.UTF_8))
          .containsPattern(
              "Without questions: .* --measure mongo-to-client --tests 2 --documents 20 --batch"
                  + " 10\n");
      assertThat(command.plan().measurements()).containsExactly(Measurement.MONGO_TO_CLIENT);
      assertThat(command.plan().tests()).isEqualTo(2);
      assertThat(command.plan().documents()).containsExactly(20);
      assertThat(command.plan().batches()).containsExactly(10);
    } finally {
      System.clearProperty("onehop.prompts");
      System.setErr(err);
      System.setIn(in);
    }
  }

  @Test
  void rejectsInvalidOptionsBeforeQuestions() throws Exception {
    Files.writeString(folder.resolve("precious"), "");
    InputStream before = System.in;
    System.setIn(InputStream.nullInputStream());
    System.setProperty("onehop.prompts", "true");
    try {
      StringWriter err = new StringWriter();
      CommandLine line = OneHopCommand.commandLine().setErr(new PrintWriter(err));

      assertThat(line.execute("propagate", "--out", folder.toString())).isEqualTo(2);
      assertThat(line.execute("propagate", "--rate=0")).isEqualTo(2);
      assertThat(line.execute("propagate", "--url=mongodb://u@a")).isEqualTo(2);

      assertThat(err.toString())
          .contains("is not empty", "--rate 0.0: must be above 0", "set ONEHOP_PASSWORD")
          .hasLineCount(3);
    } finally {
      System.clearProperty("onehop.prompts");
      System.setIn(before);
    }
  }
}
