package dev.onehop.ycsb;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class BatchMeansTest {

  @Test
  void errorIsRelativeHalfWidthOfStudentInterval() {
    // Mean 100, standard deviation sqrt(10), t 2.776 with 4 degrees of freedom.
    BatchMeans means = BatchMeans.of(List.of(96L, 98L, 100L, 102L, 104L));

    assertThat(means.windows()).isEqualTo(5);
    assertThat(means.error()).isCloseTo(2.776 * Math.sqrt(10) / Math.sqrt(5) / 100, within(1e-9));
  }

  @Test
  void manyWindowsApproachNormalDistribution() {
    List<Long> counts = new ArrayList<>();
    for (int i = 0; i < 1_000; i++) {
      counts.add(i % 2 == 0 ? 90L : 110L);
    }

    assertThat(BatchMeans.of(counts).error())
        .isCloseTo(1.9623 * 10 * Math.sqrt(1000.0 / 999) / Math.sqrt(1_000) / 100, within(1e-5));
  }

  @Test
  void errorIsInfiniteForTooLittleData() {
    assertThat(BatchMeans.of(List.of()).error()).isInfinite();
    assertThat(BatchMeans.of(List.of(7L)).error()).isInfinite();
    assertThat(BatchMeans.of(List.of(0L, 0L)).error()).isInfinite();
  }

  /** The interval contains the true mean in 95 % of the cases. */
  @Test
  void intervalContainsMeanInNineteenOfTwentyRuns() {
    Random random = new Random(15);
    int held = 0;
    for (int run = 0; run < 2_000; run++) {
      List<Long> counts = new ArrayList<>();
      for (int window = 0; window < 12; window++) {
        counts.add(Math.round(10_000 + 300 * random.nextGaussian()));
      }
      double mean = counts.stream().mapToLong(Long::longValue).average().orElseThrow();
      held += Math.abs(mean - 10_000) <= BatchMeans.of(counts).error() * mean ? 1 : 0;
    }

    // The bounds are six standard deviations from 0.95.
    assertThat(held / 2_000.0).isBetween(0.92, 0.98);
  }
}
