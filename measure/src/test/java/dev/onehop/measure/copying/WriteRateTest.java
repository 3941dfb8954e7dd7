package dev.onehop.measure.copying;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.onehop.measure.copying.WriteRate.Written;
import dev.onehop.measure.frame.Sampler.Sample;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class WriteRateTest {

  private static Sample<Long> at(double seconds, long written) {
    return new Sample<>((long) (seconds * TimeUnit.SECONDS.toNanos(1)), written);
  }

  @Test
  void ignoresTimeBeforeFirstAndAfterLastDocument() {
    Written written =
        WriteRate.of(
            List.of(at(10, 500), at(12, 500), at(13, 1_500), at(16, 10_500), at(20, 10_500)));

    assertThat(written.startSeconds()).isCloseTo(2.1, within(1e-3));
    assertThat(written.seconds()).isCloseTo(3.9 - 0.1 / 3, within(1e-3));
    assertThat(written.series()).hasSize(3);
    assertThat(written.series().get(1)).isCloseTo(3_000, within(1e-3));
  }

  @Test
  void keysAreSplitIntoEqualParts() {
    String bound = YcsbDocuments.bounds(2).get(0).getString("_id").getValue();
    long below = 0;
    for (int record = 0; record < 10_000; record++) {
      if (YcsbDocuments.key(record).getValue().compareTo(bound) < 0) {
        below++;
      }
    }
    assertThat(below).isBetween(4_800L, 5_200L);
  }
}
