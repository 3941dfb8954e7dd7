package dev.onehop.measure.delivery;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onehop.measure.results.LatencySummary;
import java.nio.file.Path;
import java.util.List;
import org.HdrHistogram.EncodableHistogram;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.HistogramLogReader;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SamplesTest {

  @TempDir private Path folder;

  private static Samples of(long... values) {
    return new Samples(values);
  }

  @Test
  void percentilesAreSamples() {
    Samples thousand = new Samples();
    for (long value = 1_000; value >= 1; value--) {
      thousand.add(value);
    }

    assertThat(thousand.summary())
        .isEqualTo(new LatencySummary(1_000, 500.5, 500, 900, 950, 990, 999, 1_000));
    assertThat(of(7).summary()).isEqualTo(new LatencySummary(1, 7, 7, 7, 7, 7, 7, 7));
    assertThat(of(1, 2, 3, 4, 5).summary().p50()).isEqualTo(3);
    assertThat(of().summary()).isEqualTo(new LatencySummary(0, 0, 0, 0, 0, 0, 0, 0));
  }

  @Test
  void logHasTimeOfWriting() throws Exception {
    long before = System.currentTimeMillis() - 1_000;
    Path file = folder.resolve("time.hlog");
    of(5).write(file);

    assertThat(read(file).getStartTimeStamp()).isBetween(before, before + 60_000);
    assertThat(read(file).getEndTimeStamp()).isBetween(before, before + 60_000);
  }

  @Test
  void logHasEverySample() throws Exception {
    Path file = folder.resolve("two.hlog");
    of(5, 0, 700).write(file);

    Histogram histogram = read(file);
    assertThat(histogram.getTag()).isNull();
    assertThat(List.of(histogram.getMinValue(), histogram.getMaxValue(), histogram.getTotalCount()))
        .containsExactly(0L, 700L, 3L);
  }

  private static Histogram read(Path file) throws Exception {
    try (HistogramLogReader reader = new HistogramLogReader(file.toFile())) {
      EncodableHistogram histogram = reader.nextIntervalHistogram();
      return (Histogram) histogram;
    }
  }
}
