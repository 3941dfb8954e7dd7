package dev.onehop.measure.frame;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.onehop.measure.frame.Sampler.Sample;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ServerWatchTest {

  private static Sample<Map<String, Long>> at(long nanos, long a, long b) {
    return new Sample<>(nanos, Map.of("a", a, "b", b));
  }

  @Test
  void operationsBeforeTheWindowDoNotCount() {
    // The warm-up has operations on server a only.
    Map<String, Double> shares =
        ServerWatch.shares(List.of(at(0, 0, 0), at(1000, 500, 0), at(2000, 510, 30)), 1000, 2000);
    assertThat(shares.get("a")).isCloseTo(0.25, within(1e-9));
    assertThat(shares.get("b")).isCloseTo(0.75, within(1e-9));
  }

  @Test
  void countsBetweenSamplesAreInterpolated() {
    // The window has half of the 100 operations on a, and half of the 50 operations on b.
    Map<String, Double> shares =
        ServerWatch.shares(
            List.of(at(0, 0, 100), at(1000, 100, 100), at(2000, 100, 150)), 500, 1500);
    assertThat(shares.get("a")).isCloseTo(50 / 75.0, within(1e-9));
  }

  @Test
  void aWindowBeyondTheSamplesTakesTheOutermost() {
    assertThat(ServerWatch.shares(List.of(at(1000, 10, 0), at(2000, 20, 0)), 0, 9000))
        .containsEntry("a", 1.0);
  }

  @Test
  void nothingSeenIsNoShare() {
    assertThat(ServerWatch.shares(List.of(new Sample<>(0, Map.of())), 0, 1)).isEmpty();
    assertThat(ServerWatch.shares(List.of(at(0, 5, 5), at(10, 5, 5)), 0, 10)).isEmpty();
  }
}
