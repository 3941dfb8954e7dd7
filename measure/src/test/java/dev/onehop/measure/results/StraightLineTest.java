package dev.onehop.measure.results;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.onehop.measure.results.StraightLine.At;
import java.util.List;
import org.junit.jupiter.api.Test;

class StraightLineTest {

  @Test
  void passesThroughCollinearPoints() {
    StraightLine line =
        StraightLine.through(List.of(new At(1, 5), new At(2, 7), new At(10, 23))).orElseThrow();
    assertThat(line.fixed()).isCloseTo(3, within(1e-9));
    assertThat(line.slope()).isCloseTo(2, within(1e-9));
  }

  @Test
  void fitsOtherPointsByLeastSquares() {
    // The values at 0 are 0 and 2, with the mean 1. The values at 2 are 3 and 5, with the mean 4.
    StraightLine line =
        StraightLine.through(List.of(new At(0, 0), new At(0, 2), new At(2, 3), new At(2, 5)))
            .orElseThrow();
    assertThat(line.fixed()).isCloseTo(1, within(1e-9));
    assertThat(line.slope()).isCloseTo(1.5, within(1e-9));
  }

  @Test
  void requiresTwoDistinctPositions() {
    assertThat(StraightLine.through(List.of())).isEmpty();
    assertThat(StraightLine.through(List.of(new At(4, 1), new At(4, 2)))).isEmpty();
  }
}
