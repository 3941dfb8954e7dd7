package dev.onehop.measure.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.onehop.measure.report.Axis.Tick;
import java.util.List;
import org.junit.jupiter.api.Test;

class AxisTest {

  @Test
  void linearAxisHasRoundTicksUpToMaximum() {
    Axis axis = Axis.fromZero("ms", 691);
    assertThat(axis.ticks())
        .extracting(Tick::label)
        .containsExactly("0", "200", "400", "600", "800");
    assertThat(axis.fraction(0)).isZero();
    assertThat(axis.fraction(800)).isEqualTo(1);
    assertThat(axis.fraction(400)).isEqualTo(0.5);
  }

  @Test
  void axisWithoutValuesHasPositiveRange() {
    assertThat(Axis.fromZero("ms", 0).high()).isPositive();
  }

  @Test
  void wideRangeOfThreadsIsLogarithmic() {
    Axis axis = Axis.counts("threads", List.of(64, 1, 16));
    assertThat(axis.ticks()).extracting(Tick::label).containsExactly("1", "16", "64");
    assertThat(axis.fraction(16) - axis.fraction(1))
        .isCloseTo(2 * (axis.fraction(64) - axis.fraction(16)), within(1e-9));
  }

  @Test
  void threadsOfSeedExperimentAreLinear() {
    Axis axis = Axis.counts("threads", List.of(10, 25, 50, 75, 100));
    assertThat(axis.fraction(75) - axis.fraction(50))
        .isCloseTo(axis.fraction(100) - axis.fraction(75), within(1e-9));
  }

  @Test
  void eachNineOfPercentilesHasSameWidth() {
    Axis axis = Axis.percentiles(3);
    assertThat(axis.ticks()).extracting(Tick::label).containsExactly("0", "50", "90", "99", "99.9");
    assertThat(axis.fraction(0.9)).isCloseTo(1 / 3.0, within(1e-9));
    assertThat(axis.fraction(0.99)).isCloseTo(2 / 3.0, within(1e-9));
  }

  @Test
  void logarithmicAxisIncludesItsValues() {
    Axis axis = Axis.logarithmic("ops/s", 22.5, 1471);
    assertThat(axis.ticks())
        .extracting(Tick::label)
        .containsExactly("20", "50", "100", "200", "500", "1,000", "2,000");
    assertThat(Axis.logarithmic("ops/s", 10, 10).high()).isGreaterThan(10);
  }
}
