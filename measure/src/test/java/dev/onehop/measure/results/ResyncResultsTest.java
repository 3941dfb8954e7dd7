package dev.onehop.measure.results;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.onehop.measure.results.ResyncResults.Kind;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class ResyncResultsTest {

  private static final Kind PLAIN = new Kind(0, 1);

  @Test
  void linesSeparateFixedTimeFromTimePerByte() {
    ResyncCell cell = SampleResyncResults.all().cells(ResyncCell.LOGICAL, new Kind(5, 1)).get(0);
    assertThat(cell.fixedSeconds()).isCloseTo(2, within(1e-6));
    assertThat(cell.secondsPerGibibyte()).isCloseTo(40, within(1e-6));
    assertThat(cell.medianSeconds()).isCloseTo(2 + 40 / 16.0, within(1e-9));
  }

  @Test
  void linesCrossAtEqualTime() {
    // 2 + 16 x = 5 + 4 x
    assertThat(SampleResyncResults.all().crossover(PLAIN))
        .isCloseTo(0.25 * (1 << 30), within(10.0));
  }

  @Test
  void linesWithoutPositiveIntersectionHaveNoCrossover() {
    assertThat(crossover(2, 4, 5, 4)).isNull();
    assertThat(crossover(2, 4, 5, 16)).isNull();
    assertThat(crossover(5, 4, 2, 16)).isNotNull();
  }

  private static @Nullable Double crossover(
      double fixed, double slope, double ofFiles, double slopeOfFiles) {
    return SampleResyncResults.of(
            List.of(
                SampleResyncResults.cell(ResyncCell.LOGICAL, 0, 64, fixed, slope),
                SampleResyncResults.cell(ResyncCell.LOGICAL, 0, 128, fixed, slope),
                SampleResyncResults.cell(ResyncCell.FILES, 0, 64, ofFiles, slopeOfFiles),
                SampleResyncResults.cell(ResyncCell.FILES, 0, 128, ofFiles, slopeOfFiles)))
        .crossover(PLAIN);
  }

  @Test
  void oneSizeHasNoLine() {
    ResyncResults results =
        SampleResyncResults.of(
            List.of(
                SampleResyncResults.cell(ResyncCell.LOGICAL, 0, 64, 2, 16),
                SampleResyncResults.cell(ResyncCell.FILES, 0, 64, 5, 4)));
    assertThat(results.cells().get(0).fixedSeconds()).isNull();
    assertThat(results.crossover(PLAIN)).isNull();
  }
}
