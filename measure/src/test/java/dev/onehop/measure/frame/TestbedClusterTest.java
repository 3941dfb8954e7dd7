package dev.onehop.measure.frame;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;

class TestbedClusterTest {

  @Test
  void keepsShortestRoundTrips() {
    Map<String, Duration> measured =
        new HashMap<>(Map.of("near", Duration.ofMillis(3), "far", Duration.ofMillis(70)));
    TestbedCluster.shorten(
        measured, Map.of("near", Duration.ofMillis(1), "far", Duration.ofMillis(80)));
    assertThat(measured)
        .containsOnly(
            Map.entry("near", Duration.ofMillis(1)), Map.entry("far", Duration.ofMillis(70)));
  }
}
