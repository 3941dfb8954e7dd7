package dev.onehop.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onehop.measure.copying.ClusterPair;
import dev.onehop.measure.copying.CopyBenchPlan;
import dev.onehop.measure.copying.CopyTool;
import dev.onehop.measure.results.CopyBenchRun;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

class CopyCommandTest {

  private static CopyBenchPlan plan(String... args) {
    CommandLine line = OneHopCommand.commandLine();
    List<String> all = new ArrayList<>(List.of("bench", "copy"));
    all.addAll(List.of(args));
    line.parseArgs(all.toArray(String[]::new));
    BenchCopyCommand command =
        line.getSubcommands().get("bench").getSubcommands().get("copy").getCommand();
    return command.plan();
  }

  @Test
  void measuresEverythingUnlessLimitedByOptions() {
    assertThat(plan().kinds())
        .containsExactly(CopyBenchRun.FULL, CopyBenchRun.INCREMENTAL, CopyBenchRun.LAG);
    assertThat(plan().collections()).containsExactly(1, 5);
    assertThat(plan("--measure", "lag,full").kinds())
        .containsExactly(CopyBenchRun.FULL, CopyBenchRun.LAG);
    assertThat(plan().pairs()).containsExactly(ClusterPair.SHARDED, ClusterPair.REPLICA_SET);
    assertThat(plan("--quick").pairs()).containsExactly(ClusterPair.SHARDED);
    assertThat(plan("--between", "sharded-to-replica-set").pairs())
        .containsExactly(ClusterPair.SHARDED_TO_REPLICA_SET);
    assertThat(plan("--quick").records()).isLessThan(plan().records());
    assertThat(plan("--quick", "--records", "5000").records()).isEqualTo(5_000);
  }

  @Test
  void rivalOptionMapsToolToProgram(@TempDir Path folder) throws IOException {
    Path program = Files.createFile(folder.resolve("pcsm"));
    assertThat(program.toFile().setExecutable(true)).isTrue();
    assertThat(plan("--rival", "pcsm=" + program).rivals())
        .isEqualTo(Map.of(CopyTool.PCSM, program));
    assertThat(plan().rivals()).isEmpty();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '"',
      value = {
        "copy --records 5000 | Unknown options: '--records', '5000'",
        "copy --bench --from mongodb://a | Unknown options: '--from', 'mongodb://a'",
        "copy --bench --resume | Unknown option: '--resume'",
        "copy --bench --operations 9000 | Unknown options: '--operations', '9000'",
        "copy --bench --records 10 | --records 10: must be from 1000",
        "copy --rounds 0 --bench | --rounds 0: must be from 1",
        "bench copy --rounds 0 | --rounds 0: must be from 1",
        "bench copy --changes 600000 | --changes 600000: must be from 1000 to 500000",
        "bench copy --measure speed | --measure takes full, incremental and lag, not 'speed'",
        "bench copy --between moon | --between takes sharded, replica-set, replica-set-to-sharded,"
            + " sharded-to-replica-set, not 'moon'",
        "bench copy --mongod /nowhere | --mongod /nowhere: no such file",
        "bench copy --rival pcsm=/nowhere | --rival pcsm /nowhere: no such file",
        "bench copy --rival rsync=/bin/sh | --rival takes pcsm, mongoshake, mongosync, not 'rsync'",
        "bench verify --rival pcsm=/bin/sh | --rival takes migration-verifier, not 'pcsm'",
        "copy --from mongodb://a | --from and --to are required",
        "copy --from mongodb://a --to mongodb://b --resume --overwrite | exclude each other",
        "copy --from mongodb://a --to mongodb://b --only all | --only takes structure, full,"
            + " indexes, incremental, not 'all'",
        "copy --from mongodb://a --to mongodb://b --operations x | --operations takes insert,"
            + " update, delete, ddl, not 'x'",
        "copy --from mongodb://a --to mongodb://b --filter x=y | not a JSON object",
        "copy --from mongodb://a --to mongodb://b --readers 0 | readers"
      })
  void rejectsInvalidOptions(String args, String message) {
    StringWriter err = new StringWriter();
    CommandLine line = OneHopCommand.commandLine().setErr(new PrintWriter(err));
    assertThat(line.execute(args.split(" "))).isEqualTo(2);
    assertThat(err.toString()).contains(message).hasLineCount(1);
  }
}
