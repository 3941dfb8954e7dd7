package dev.onehop.testbed.topology;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onehop.testbed.TestbedException;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RoundTripsTest {

  @ParameterizedTest
  @CsvSource({"600,1090", "600,110", "68000,70030", "68000,65970"})
  void acceptsSmallDeviation(long configured, long measured) {
    assertThatCode(() -> of(configured, measured).requireAsConfigured()).doesNotThrowAnyException();
  }

  @ParameterizedTest
  @CsvSource({"600,1110", "600,90", "68000,70050", "68000,65950", "68000,0"})
  void rejectsLargeDeviation(long configured, long measured) {
    assertThatThrownBy(() -> of(configured, measured).requireAsConfigured())
        .isInstanceOf(TestbedException.class)
        .hasMessageContaining("or1");
  }

  @Test
  void reportsMeasuredAndConfiguredTimes() {
    assertThatThrownBy(() -> of(68_000, 75_500).requireAsConfigured())
        .hasMessage(
            "round trips from the client's host are not as configured:"
                + " or1 75.50 ms measured, 68.00 ms configured");
  }

  private static RoundTrips of(long configuredMicros, long measuredMicros) {
    return new RoundTrips(
        Map.of("or1", Duration.ofNanos(configuredMicros * 1000)),
        Map.of("or1", Duration.ofNanos(measuredMicros * 1000)));
  }
}
