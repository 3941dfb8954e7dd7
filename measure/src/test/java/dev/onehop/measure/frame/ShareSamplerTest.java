package dev.onehop.measure.frame;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.Map;
import org.junit.jupiter.api.Test;

class ShareSamplerTest {

  @Test
  void operationsBeforeTheWindowDoNotCount() {
    ShareSampler sampler = new ShareSampler();
    sampler.add("a", 0, 0L);
    sampler.add("b", 0, 0L);
    // A warm-up with operations on a only.
    sampler.add("a", 1000, 500L);
    sampler.add("b", 1000, 0L);
    sampler.add("a", 2000, 510L);
    sampler.add("b", 2000, 30L);
    Map<String, Double> shares = sampler.shares(1000, 2000);
    assertThat(shares.get("a")).isCloseTo(0.25, within(1e-9));
    assertThat(shares.get("b")).isCloseTo(0.75, within(1e-9));
  }

  @Test
  void countsBetweenSamplesAreInterpolated() {
    ShareSampler sampler = new ShareSampler();
    sampler.add("a", 0, 0L);
    sampler.add("b", 0, 100L);
    sampler.add("a", 1000, 100L);
    sampler.add("b", 1000, 100L);
    sampler.add("a", 2000, 100L);
    sampler.add("b", 2000, 150L);
    // Half of a's hundred, and half of b's fifty.
    Map<String, Double> shares = sampler.shares(500, 1500);
    assertThat(shares.get("a")).isCloseTo(50 / 75.0, within(1e-9));
  }

  @Test
  void aWindowBeyondTheSamplesTakesTheOutermost() {
    ShareSampler sampler = new ShareSampler();
    sampler.add("a", 1000, 10L);
    sampler.add("a", 2000, 20L);
    assertThat(sampler.shares(0, 9000)).containsEntry("a", 1.0);
  }

  @Test
  void nothingSeenIsNoShare() {
    assertThat(new ShareSampler().shares(0, 1)).isEmpty();
    ShareSampler idle = new ShareSampler();
    idle.add("a", 0, 5L);
    idle.add("a", 10, 5L);
    assertThat(idle.shares(0, 10)).isEmpty();
  }
}
