package dev.onehop.cli.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.Map;
import org.junit.jupiter.api.Test;

class ShareSamplerTest {

  @Test
  void operationsBeforeTheWindowDoNotCount() {
    ShareSampler sampler = new ShareSampler();
    sampler.add(0, Map.of("a", 0L, "b", 0L));
    // A warm-up that went to a only.
    sampler.add(1000, Map.of("a", 500L, "b", 0L));
    sampler.add(2000, Map.of("a", 510L, "b", 30L));
    Map<String, Double> shares = sampler.shares(1000, 2000);
    assertThat(shares.get("a")).isCloseTo(0.25, within(1e-9));
    assertThat(shares.get("b")).isCloseTo(0.75, within(1e-9));
  }

  @Test
  void countsBetweenSamplesAreInterpolated() {
    ShareSampler sampler = new ShareSampler();
    sampler.add(0, Map.of("a", 0L, "b", 100L));
    sampler.add(1000, Map.of("a", 100L, "b", 100L));
    sampler.add(2000, Map.of("a", 100L, "b", 150L));
    // Half of a's hundred, and half of b's fifty.
    Map<String, Double> shares = sampler.shares(500, 1500);
    assertThat(shares.get("a")).isCloseTo(50 / 75.0, within(1e-9));
  }

  @Test
  void aWindowBeyondTheSamplesTakesTheOutermost() {
    ShareSampler sampler = new ShareSampler();
    sampler.add(1000, Map.of("a", 10L));
    sampler.add(2000, Map.of("a", 20L));
    assertThat(sampler.shares(0, 9000)).containsEntry("a", 1.0);
  }

  @Test
  void nothingSeenIsNoShare() {
    assertThat(new ShareSampler().shares(0, 1)).isEmpty();
    ShareSampler idle = new ShareSampler();
    idle.add(0, Map.of("a", 5L));
    idle.add(10, Map.of("a", 5L));
    assertThat(idle.shares(0, 10)).isEmpty();
  }
}
