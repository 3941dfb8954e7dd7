package dev.onehop.measure.results;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.onehop.measure.report.Reports;
import dev.onehop.measure.results.TopologyFacts.RoundTrips;
import dev.onehop.resync.Failure;
import java.util.ArrayList;
import java.util.List;
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
  void acceptsSmallDeviations() {
    assertThat(RoundTripCheck.violations(SampleResults.topology())).isEmpty();
    assertThat(
            RoundTripCheck.violations(
                measured(Map.of("va1-or1", 69.9, "va1-va2", 1.05, "va1-va1", 0.4))))
        .isEmpty();
  }

  /** A busy machine makes round trips longer. The run then gets a warning, and continues. */
  @Test
  void warnsOfBusyMachine() {
    List<String> warnings = new ArrayList<>();
    TopologyFacts busy = measured(Map.of("va1-or1", 73.0, "va1-va2", 4.1));
    RoundTripCheck.require(busy, warnings::add);
    assertThat(warnings)
        .containsExactly(
            "Round trips are not as configured (va1 to va2: 4.10 ms measured, 0.60 ms configured;"
                + " va1 to or1: 73.00 ms measured, 68.00 ms configured), because this machine's processors"
                + " were busy. End other programs on this machine, and measure again.");
    assertThat(Reports.table(SampleResults.us2014(busy))).contains("! " + warnings.get(0));
    RoundTripCheck.require(SampleResults.topology(), warnings::add);
    assertThat(warnings).hasSize(1);
    assertThat(Reports.table(SampleResults.us2014())).doesNotContain("not as configured");
  }

  @Test
  void rejectsLargeDeviations() {
    for (Map<String, Double> off :
        List.of(
            Map.of("va1-or1", 86.0), // more than a quarter longer
            Map.of("va1-va2", 6.0), // more than 5 ms longer
            Map.of("va1-ca1", 59.0))) { // shorter, which a busy machine cannot cause
      assertThatExceptionOfType(Failure.class)
          .isThrownBy(() -> RoundTripCheck.require(measured(off), warning -> {}))
          .withMessageContaining(" ms measured, ");
    }
  }

  @Test
  void namesEachDeviation() {
    assertThat(
            RoundTripCheck.violations(
                measured(Map.of("va1-or1", 73.0, "va1-va2", 1.2, "va1-ca1", 59.0))))
        .hasSize(3)
        .contains("va1 to or1: 73.00 ms measured, 68.00 ms configured");
  }
}
