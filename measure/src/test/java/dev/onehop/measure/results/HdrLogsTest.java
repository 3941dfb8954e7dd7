package dev.onehop.measure.results;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onehop.resync.Failure;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.HdrHistogram.Histogram;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class HdrLogsTest {

  @TempDir private Path folder;

  private static Histogram of(long value, int times) {
    Histogram histogram = new Histogram(3);
    histogram.recordValueWithCount(value, times);
    return histogram;
  }

  @Test
  void intervalsAreMergedNotAveraged() throws Exception {
    // The median of the first interval is 1 ms, of the second 100 ms; their average is neither.
    SampleResults.writeLog(
        HdrLogs.file(folder, "READ"), List.of(of(1_000, 970), of(100_000, 30), new Histogram(3)));
    Histogram merged = HdrLogs.merged(folder, "READ").orElseThrow();
    LatencySummary summary = LatencySummary.of(merged);
    assertThat(summary.count()).isEqualTo(1000);
    assertThat(summary.mean()).isBetween(3_960.0, 3_980.0);
    assertThat(summary.p50()).isEqualTo(1_000);
    assertThat(summary.p95()).isEqualTo(1_000);
    assertThat(summary.p99()).isBetween(99_900L, 100_100L);
    assertThat(summary.max()).isBetween(99_900L, 100_100L);
  }

  @Test
  void missingOrEmptyLogHasNoHistogram() throws Exception {
    assertThat(HdrLogs.merged(folder, "SCAN")).isEmpty();
    SampleResults.writeLog(HdrLogs.file(folder, "SCAN"), List.of(new Histogram(3)));
    assertThat(HdrLogs.merged(folder, "SCAN")).isEmpty();
  }

  @Test
  void reportsDamagedLog() throws Exception {
    Path file = HdrLogs.file(folder, "READ");
    SampleResults.writeLog(file, List.of(of(1_000, 10)));
    Files.writeString(file, Files.readString(file).replaceAll("HISTF\\w{8}", "HISTF????????"));
    assertThatThrownBy(() -> HdrLogs.merged(folder, "READ"))
        .isInstanceOf(Failure.class)
        .hasMessageContaining(file.toString());
  }
}
