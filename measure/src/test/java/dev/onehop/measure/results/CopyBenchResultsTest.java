package dev.onehop.measure.results;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CopyBenchResultsTest {

  private static final String FULL = "full, sharded, 1 collection";

  @Test
  void roundsAreComparedInPairs() {
    Bootstrap beside =
        SampleCopyBenchResults.all()
            .ratio(FULL, CopyBenchRun.DRIVER, CopyBenchRun::documentsPerSecond)
            .orElseThrow();
    assertThat(beside.ratio()).isCloseTo(2, within(1e-9));
    assertThat(beside.least()).isCloseTo(2, within(1e-9));
    assertThat(beside.rounds()).isEqualTo(3);
    assertThat(beside.low()).as("too few rounds for an interval").isNull();
  }

  @Test
  void omitsRoundWithoutCounterpart() {
    CopyBenchResults results =
        SampleCopyBenchResults.of(
            List.of(
                SampleCopyBenchResults.run(CopyBenchRun.FULL, CopyBenchRun.DRIVER, 1, 100, null),
                SampleCopyBenchResults.run(CopyBenchRun.FULL, CopyBenchRun.ONEHOP, 1, 300, null),
                SampleCopyBenchResults.run(CopyBenchRun.FULL, CopyBenchRun.ONEHOP, 2, 900, null)));
    assertThat(
            results
                .ratio(FULL, CopyBenchRun.DRIVER, CopyBenchRun::documentsPerSecond)
                .orElseThrow()
                .ratio())
        .isCloseTo(3, within(1e-9));
    assertThat(results.ratio("another", CopyBenchRun.DRIVER, CopyBenchRun::documentsPerSecond))
        .isEmpty();
  }

  @Test
  void readsFilesWithEarlierToolNames(@TempDir Path folder) throws Exception {
    CopyBenchResults results = SampleCopyBenchResults.all();
    ResultsFile.write(folder, results);
    Path file = folder.resolve(ResultsFile.NAME);
    String earlier =
        Files.readString(file)
            .replaceAll("\"tool\"( ?: ?)\"driver-one-mongos\"", "\"way\"$1\"one-router\"")
            .replaceAll("\"tool\"( ?: ?)\"onehop\"", "\"way\"$1\"per-shard\"");
    assertThat(earlier).contains("one-router", "per-shard").doesNotContain("\"tool\"");
    Files.writeString(file, earlier);
    assertThat(ResultsFile.readAny(folder)).isEqualTo(results);
  }

  @Test
  void routerSpreadIsRelativeToMean() {
    assertThat(
            SampleCopyBenchResults.run(CopyBenchRun.FULL, CopyBenchRun.ONEHOP, 1, 1, null)
                .routerSpread())
        .isCloseTo(0.03, within(1e-9));
    assertThat(
            SampleCopyBenchResults.run(CopyBenchRun.FULL, CopyBenchRun.DRIVER, 1, 1, null)
                .routerSpread())
        .isCloseTo(3, within(1e-9));
  }
}
