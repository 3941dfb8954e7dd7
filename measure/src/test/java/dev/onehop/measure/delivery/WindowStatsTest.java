package dev.onehop.measure.delivery;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.onehop.measure.delivery.ConsumerReport.Sample;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class WindowStatsTest {

  private static final long BEGIN = 1_700_000_000_000_000L;
  private static final int SECOND = 1_000_000;

  /**
   * A consumer that takes 1,000 rows a second and keeps half a core busy. It is sampled four times
   * a second.
   */
  private static ConsumerReport report(long begin, int seconds) {
    List<Sample> samples = new ArrayList<>();
    for (int i = 0; i <= 4 * seconds; i++) {
      samples.add(
          new Sample(
              begin + i * (long) SECOND / 4,
              7 + i * 125_000_000L,
              i == 3 ? 90_000_000 : 80_000_000,
              i * 250L,
              i * 250L * 400));
    }
    return new ConsumerReport(begin, begin + seconds * (long) SECOND, 0, 0, 0, 0, samples);
  }

  @Test
  void ratesCoverOnlyWindow() {
    WindowStats measured =
        new WindowStats(List.of(report(BEGIN, 20)), BEGIN + 2_100_000, BEGIN + 14_000_000);

    assertThat(measured.seconds()).isCloseTo(11.9, within(1e-9));
    assertThat(measured.rowsPerSecond()).isCloseTo(1_000, within(1e-6));
    assertThat(measured.bytesPerSecond()).isCloseTo(400_000, within(1e-3));
    assertThat(measured.cores()).isCloseTo(0.5, within(1e-9));
    assertThat(measured.memoryBytes()).isEqualTo(90_000_000);
    assertThat(measured.windows()).containsExactly(1_000.0, 1_000.0, 1_000.0);
  }

  @Test
  void sumsSeveralConsumers() {
    WindowStats measured = WindowStats.drain(List.of(report(BEGIN, 8), report(BEGIN + SECOND, 9)));

    assertThat(measured.seconds()).isCloseTo(10, within(1e-9));
    assertThat(measured.rowsPerSecond()).isCloseTo(1_700, within(1e-6));
    assertThat(measured.cores()).isCloseTo(0.85, within(1e-9));
    assertThat(measured.memoryBytes()).isEqualTo(180_000_000);
  }

  @Test
  void omitsShortLastWindowUnlessOnlyOne() {
    assertThat(new WindowStats(List.of(report(BEGIN, 8)), BEGIN, BEGIN + 5_900_000).windows())
        .hasSize(1);
    assertThat(new WindowStats(List.of(report(BEGIN, 8)), BEGIN, BEGIN + 500_000).windows())
        .containsExactly(1_000.0);
  }

  @Test
  void emptyReportHasZeroRates() {
    ConsumerReport empty = new ConsumerReport(BEGIN, BEGIN, 0, 0, 0, 0, List.of());
    assertThat(WindowStats.drain(List.of(empty)).rowsPerSecond()).isZero();
    assertThat(WindowStats.drain(List.of(empty)).cores()).isZero();
  }
}
