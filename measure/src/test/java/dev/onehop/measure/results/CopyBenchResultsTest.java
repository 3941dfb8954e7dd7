package dev.onehop.measure.results;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.onehop.measure.results.CopyBenchResults.Beside;
import java.util.List;
import org.junit.jupiter.api.Test;

class CopyBenchResultsTest {

  private static final String FULL = "full, sharded, 1 collection";

  @Test
  void roundsAreComparedInPairs() {
    Beside beside =
        SampleCopyBenchResults.all().ratio(FULL, CopyBenchRun::documentsPerSecond).orElseThrow();
    assertThat(beside.ratio()).isCloseTo(2, within(1e-9));
    assertThat(beside.least()).isCloseTo(2, within(1e-9));
    assertThat(beside.rounds()).isEqualTo(3);
    assertThat(beside.low()).as("too few rounds for an interval").isNull();
  }

  @Test
  void aRoundWithoutItsOtherHalfIsLeftOut() {
    CopyBenchResults results =
        SampleCopyBenchResults.of(
            List.of(
                SampleCopyBenchResults.run(CopyBenchRun.FULL, CopyBenchRun.ONE, 1, 100, null),
                SampleCopyBenchResults.run(CopyBenchRun.FULL, CopyBenchRun.OURS, 1, 300, null),
                SampleCopyBenchResults.run(CopyBenchRun.FULL, CopyBenchRun.OURS, 2, 900, null)));
    assertThat(results.ratio(FULL, CopyBenchRun::documentsPerSecond).orElseThrow().ratio())
        .isCloseTo(3, within(1e-9));
    assertThat(results.ratio("another", CopyBenchRun::documentsPerSecond)).isEmpty();
  }

  @Test
  void theSpreadOfRoutersIsOfTheirMean() {
    assertThat(
            SampleCopyBenchResults.run(CopyBenchRun.FULL, CopyBenchRun.OURS, 1, 1, null)
                .routerSpread())
        .isCloseTo(0.03, within(1e-9));
    assertThat(
            SampleCopyBenchResults.run(CopyBenchRun.FULL, CopyBenchRun.ONE, 1, 1, null)
                .routerSpread())
        .isCloseTo(3, within(1e-9));
  }
}
