package dev.onehop.measure.points;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.Map;
import org.junit.jupiter.api.Test;

class ClosedLoopTest {

  private static final Map<String, Double> ROUND_TRIPS =
      Map.of("va2", 0.6, "or1", 68.0, "ca1", 62.0);

  @Test
  void weightsRoundTripsByShardShares() {
    Map<String, Double> even = Map.of("va2", 1 / 3.0, "or1", 1 / 3.0, "ca1", 1 / 3.0);
    assertThat(ClosedLoop.meanRoundTripMillis(even, ROUND_TRIPS)).isCloseTo(43.533, within(0.001));
    assertThat(ClosedLoop.meanRoundTripMillis(Map.of("or1", 0.5, "va2", 0.5), ROUND_TRIPS))
        .isCloseTo(34.3, within(1e-9));
  }

  @Test
  void shardWithoutOperationsNeedsNoRoundTrip() {
    assertThat(ClosedLoop.meanRoundTripMillis(Map.of("or1", 1.0, "new", 0.0), ROUND_TRIPS))
        .isEqualTo(68.0);
    assertThat(ClosedLoop.meanRoundTripMillis(Map.of("or1", 0.9, "new", 0.1), ROUND_TRIPS))
        .isNull();
    assertThat(ClosedLoop.meanRoundTripMillis(Map.of(), ROUND_TRIPS)).isNull();
  }

  @Test
  void limitIsThreadsDividedByRoundTrip() {
    assertThat(ClosedLoop.operationsPerSecond(64, 43.5)).isCloseTo(1471.26, within(0.01));
    assertThat(ClosedLoop.operationsPerSecond(5, 50.0)).isEqualTo(100);
    assertThat(ClosedLoop.operationsPerSecond(64, null)).isNull();
    assertThat(ClosedLoop.operationsPerSecond(64, 0.0)).isNull();
  }
}
