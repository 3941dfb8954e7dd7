package dev.onehop.measure.delivery;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onehop.measure.results.ConsumePoint;
import dev.onehop.measure.results.HdrLogs;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LagsTest {

  @TempDir private Path folder;

  @Test
  void measuresOnlyRowsOfWindow() {
    Lags lags = new Lags();
    lags.setWindow(1_000_000, 2_000_000);
    for (long began : new long[] {999_999, 1_000_000, 1_999_999, 2_000_000}) {
      Row row = SampleEvents.row(1, 0, 1, began);
      lags.time(row, SampleEvents.of(row, 0, began / 1_000), began + 5_000);
    }
    lags.write(folder);

    assertThat(HdrLogs.merged(folder, ConsumePoint.SINCE_ISSUED_LOG).orElseThrow())
        .satisfies(
            since -> {
              assertThat(since.getTotalCount()).isEqualTo(2);
              assertThat(since.getMaxValue()).isBetween(5_000L, 5_010L);
            });
    assertThat(HdrLogs.merged(folder, ConsumePoint.LAG_LOG).orElseThrow().getTotalCount())
        .isEqualTo(2);
    assertThat(lags.negative()).isZero();
  }

  @Test
  void countsNegativeLags() {
    Lags lags = new Lags();
    lags.setWindow(0, 10);
    Row row = SampleEvents.row(1, 0, 1, 5);
    lags.time(row, SampleEvents.of(row, 0, 1_000), 4);

    assertThat(lags.negative()).isEqualTo(2);
  }
}
