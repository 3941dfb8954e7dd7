package dev.onehop.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onehop.measure.copying.CopyBenchPlan;
import dev.onehop.measure.copying.ClusterPair;
import dev.onehop.measure.results.CopyBenchRun;
import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

class CopyCommandTest {

  private static CopyBenchPlan plan(String... args) {
    CommandLine line = OneHopCommand.commandLine();
    String[] all = new String[args.length + 2];
    all[0] = "copy";
    all[1] = "--bench";
    System.arraycopy(args, 0, all, 2, args.length);
    line.parseArgs(all);
    CopyCommand command = line.getSubcommands().get("copy").getCommand();
    assertThat(command.bench.isWanted()).isTrue();
    return command.bench.plan();
  }

  @Test
  void everythingIsMeasuredUnlessAskedForLess() {
    assertThat(plan().kinds())
        .containsExactly(CopyBenchRun.FULL, CopyBenchRun.INCREMENTAL, CopyBenchRun.LAG);
    assertThat(plan().collections()).containsExactly(1, 5);
    assertThat(plan("--measure", "lag,full").kinds())
        .containsExactly(CopyBenchRun.FULL, CopyBenchRun.LAG);
    assertThat(plan().setups()).containsExactly(ClusterPair.SHARDED, ClusterPair.REPLICA_SET);
    assertThat(plan("--quick").setups()).containsExactly(ClusterPair.SHARDED);
    assertThat(plan("--between", "sharded-to-replica-set").setups())
        .containsExactly(ClusterPair.SHARDED_TO_REPLICA_SET);
    assertThat(plan("--quick").records()).isLessThan(plan().records());
    assertThat(plan("--quick", "--records", "5000").records()).isEqualTo(5_000);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '"',
      value = {
        "--records 5000 | --records goes with --bench",
        "--bench --from mongodb://a | --from and --bench exclude each other",
        "--bench --resume | --resume and --bench exclude each other",
        "--bench --operations 9000 | --operations of --bench is --changes now",
        "--bench --records 10 | --records 10: must be from 1000",
        "--bench --rounds 0 | --rounds 0: must be from 1",
        "--bench --changes 600000 | --changes 600000: must be from 1000 to 500000",
        "--bench --measure speed | --measure takes full, incremental and lag, and not 'speed'",
        "--bench --between moon | --between takes sharded, replica-set, replica-set-to-sharded,"
            + " sharded-to-replica-set, and not 'moon'",
        "--bench --mongod /nowhere | --mongod /nowhere: no such file",
        "--from mongodb://a | --from and --to are needed"
      })
  void whatDoesNotGoTogetherIsSaid(String args, String message) {
    StringWriter err = new StringWriter();
    CommandLine line = OneHopCommand.commandLine().setErr(new PrintWriter(err));
    assertThat(line.execute(("copy " + args).split(" "))).isEqualTo(2);
    assertThat(err.toString()).contains(message);
  }
}
