package dev.onehop.measure.results;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onehop.measure.results.TopologyFacts.RoundTrips;
import java.util.Map;
import org.junit.jupiter.api.Test;

class RoundTripCheckTest {

  private static TopologyFacts measured(Map<String, Double> measured) {
    TopologyFacts sample = SampleResults.topology();
    return new TopologyFacts(
        sample.name(),
        sample.client(),
        sample.regions(),
        new RoundTrips(sample.rttMillis().configured(), measured),
        sample.hosts());
  }

  @Test
  void threePercentOrHalfAMillisecondIsAsConfigured() {
    assertThat(RoundTripCheck.violations(SampleResults.topology())).isEmpty();
    assertThat(
            RoundTripCheck.violations(
                measured(Map.of("va1-or1", 69.9, "va1-va2", 1.05, "va1-va1", 0.4))))
        .isEmpty();
  }

  @Test
  void whatIsOffIsNamed() {
    assertThat(
            RoundTripCheck.violations(
                measured(Map.of("va1-or1", 73.0, "va1-va2", 1.2, "va1-ca1", 59.0))))
        .hasSize(3)
        .contains("va1 to or1: 73.00 ms measured, 68.00 ms configured");
  }
}
