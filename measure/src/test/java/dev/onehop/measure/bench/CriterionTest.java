package dev.onehop.measure.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onehop.measure.results.Client;
import dev.onehop.measure.results.SampleResults;
import dev.onehop.measure.results.ScenarioEntry;
import dev.onehop.resync.Failure;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class CriterionTest {

  @ParameterizedTest
  @CsvSource({
    "p99<20ms, p99, 20000",
    "p50 < 1.5s, p50, 1500000",
    "p999<250us, p999, 250",
    " mean<3ms , mean, 3000",
    "p95<1s, p95, 1000000"
  })
  void namesAFigureAndATime(String text, String figure, double micros) {
    assertThat(Criterion.parse(text)).isEqualTo(new Criterion(figure, micros, text.strip()));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "p99",
        "p99<",
        "p99<20",
        "p99>20ms",
        "p98<20ms",
        "p99<0ms",
        "p99<-1ms",
        "p99<xms"
      })
  void whatIsNoneIsSaidInOneLine(String text) {
    assertThatThrownBy(() -> Criterion.parse(text))
        .isInstanceOf(Failure.class)
        .hasMessageStartingWith("--find-max '" + text + "': write p50, ");
  }

  @Test
  void holdsIfNothingFailedAndTheFigureIsBelow() {
    ScenarioEntry entry =
        SampleResults.entry(
            ScenarioEntry.RATE, new Client("async", 100, false), 300, "all", "all", 15_000, 300);
    ScenarioEntry clean = SampleResults.withoutErrors(entry);

    assertThat(Criterion.parse("p99<20ms").holds(clean)).isTrue();
    assertThat(Criterion.parse("p99<15ms").holds(clean)).isFalse();
    assertThat(Criterion.parse("p99<20ms").holds(entry)).as("one failed").isFalse();
  }
}
