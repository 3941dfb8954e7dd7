package dev.onehop.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onehop.measure.joining.ResyncBenchPlan;
import dev.onehop.resync.ResyncMethod;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

class ResyncCommandTest {

  /** The plan of {@code resync bench}, which is the earlier name of {@code bench join}. */
  private static ResyncBenchPlan plan(String... args) {
    CommandLine line = OneHopCommand.commandLine();
    String[] all = new String[args.length + 2];
    all[0] = "resync";
    all[1] = "bench";
    System.arraycopy(args, 0, all, 2, args.length);
    line.parseArgs(all);
    BenchJoinCommand command =
        line.getSubcommands().get("resync").getSubcommands().get("bench").getCommand();
    return command.plan();
  }

  /**
   * The path must be absolute, because a server with a relative data folder does not report where
   * the folder is.
   */
  @Test
  void dataFolderIsAbsolute() {
    assertThat(plan().folder()).isNull();
    assertThat(plan("--data", "../x").folder())
        .isEqualTo(Path.of("../x").toAbsolutePath().normalize());
  }

  @Test
  void measuresWholeMatrixThreeTimesByDefault() {
    ResyncBenchPlan plan = plan();
    assertThat(plan.methods()).containsExactly(ResyncMethod.values());
    assertThat(plan.cells()).isEqualTo(16);
    assertThat(plan.rounds()).isEqualTo(3);
    assertThat(plan.within()).isNull();
  }

  @Test
  void quickRunIsSmallAndLimitedInTime() {
    assertThat(plan("--quick").cells()).isEqualTo(8);
    assertThat(plan("--quick").within()).isLessThan(Duration.ofMinutes(2));
    assertThat(plan("--quick", "--rounds", "5").within()).isNull();
    assertThat(plan("--quick", "--sizes", "4,2,4").mebibytes()).containsExactly(2, 4);
  }

  @Test
  void joinIsACommandOfBench() {
    CommandLine line = OneHopCommand.commandLine();
    line.parseArgs("bench", "join");
    BenchJoinCommand command =
        line.getSubcommands().get("bench").getSubcommands().get("join").getCommand();
    assertThat(command.plan()).isEqualTo(plan());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '"',
      value = {
        "bench --indexes 11 | --indexes 11: must be from 0 to 10",
        "bench --sizes 0 | --sizes 0: must be from 1",
        "bench --rounds 0 | --rounds 0: must be from 1",
        "bench --method fast | --method takes logical, files, not 'fast'",
        "bench --mongod /nowhere | --mongod /nowhere: no such file",
        "bench --mongod .. | --mongod .. is not executable",
        "run --to a:1 | Missing required option: '--url=URL'",
        "run --url mongodb://a --to a:1 | --to and --dbpath need the same number",
        "run --url mongodb://a --to a --dbpath b | write it as HOST:PORT",
        "run --url mongodb://u:secret@a --to a:1 --dbpath b | leave the password out",
        "run --url mongodb://a --to a:1 --method logical --limit 1 | --limit requires --method"
            + " files",
        "run --url mongodb://a --to a:1 --dbpath b --limit 0 | --limit must be above 0",
        "run --url mongodb://a --to a:1 --dbpath b --copy x --limit 1 | exclude each other",
        "run --url mongodb://a --to a:1 --dbpath b --lock-deadline 0s | --lock-deadline must be"
            + " above 0"
      })
  void invalidOptionsAreOneLineUsageErrors(String arguments, String message) {
    StringWriter err = new StringWriter();
    int exitCode =
        OneHopCommand.commandLine()
            .setErr(new PrintWriter(err))
            .execute(("resync " + arguments).split(" ", -1));
    assertThat(err.toString()).contains(message).hasLineCount(1).doesNotContain("secret");
    assertThat(exitCode).isEqualTo(2);
  }
}
