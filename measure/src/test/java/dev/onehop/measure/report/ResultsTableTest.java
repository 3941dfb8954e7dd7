package dev.onehop.measure.report;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onehop.measure.results.Envelope;
import dev.onehop.measure.results.Point;
import dev.onehop.measure.results.Results;
import dev.onehop.measure.results.SampleResults;
import dev.onehop.measure.results.ServerFacts;
import java.util.List;
import org.junit.jupiter.api.Test;

class ResultsTableTest {

  /** The line of the columns' names. */
  private static final int HEADER = 5;

  private static List<String> lines(Results results) {
    return Reports.table(results).lines().toList();
  }

  @Test
  void hasRowForEachPointInOrder() {
    List<String> lines = lines(SampleResults.us2014());
    assertThat(lines.get(HEADER))
        .startsWith("mode")
        .contains("conns", "threads", "% of limit", "share %");
    List<String> rows = lines.subList(HEADER + 1, HEADER + 12);
    assertThat(rows.get(0)).startsWith("legacy ").contains("22.5", "23.0", "44.6", "33/34/33");
    assertThat(rows.get(8)).startsWith("targeted-async ").contains("64", "225", "100");
    assertThat(rows.get(9)).startsWith("legacy ").contains(" 100 ");
    assertThat(lines.get(HEADER + 12)).startsWith("  limit: threads / mean round trip");
  }

  @Test
  void columnsAreAligned() {
    List<String> lines = lines(SampleResults.us2014());
    int errors = lines.get(HEADER).indexOf("errors") + "errors".length();
    for (String row : lines.subList(HEADER + 1, HEADER + 12)) {
      assertThat(row.charAt(errors - 1)).isEqualTo('0');
      assertThat(row.charAt(errors)).isEqualTo(' ');
    }
  }

  @Test
  void showsRoundsColumnOnlyForSeveralRounds() {
    List<String> lines = lines(SampleResults.inRounds(SampleResults.us2014()));
    assertThat(lines.get(HEADER)).contains("ops/s", "rounds", "limit");
    assertThat(lines.get(HEADER + 1)).contains(" 22.5 ", " 20.3-24.8 ", " 23.0 ");
    assertThat(lines(SampleResults.us2014()).get(HEADER)).doesNotContain("rounds");
  }

  @Test
  void namesShardsAndStandInRouters() {
    assertThat(Reports.table(SampleResults.us2014()))
        .contains("STAND-IN routers", "stand-in, not mongos", "the operations (ca1 / or1 / va2)");
  }

  @Test
  void realMongosIsNotCalledStandIn() {
    Results sample = SampleResults.us2014();
    Results real =
        new Results(
            new Envelope(
                sample.run(),
                sample.topology(),
                new ServerFacts("8.0.1", new ServerFacts.Router("mongos", "8.0.1"), "8.0"),
                sample.machine()),
            sample.points());
    assertThat(Reports.table(real)).contains("mongos 8.0.1").doesNotContainIgnoringCase("stand-in");
  }

  @Test
  void percentRoundsToHundredOnlyWhenReached() {
    assertThat(Format.percent(0.9999)).isEqualTo("99.9");
    assertThat(Format.percent(1.0)).isEqualTo("100");
    assertThat(Format.percent(0.0004)).isEqualTo("0.0");
    assertThat(Format.percent(0.0)).isEqualTo("0");
    assertThat(Format.percent(0.334)).isEqualTo("33");
    assertThat(Format.percent(null)).isEqualTo("-");
  }

  @Test
  void ratesHaveSeparateTableWithRatios() {
    assertThat(Reports.table(SampleResults.atRates(SampleResults.us2014())))
        .containsPattern("300 +targeted-async \\(pipelined\\) +5 +300 +65\\.\\d")
        .containsPattern("300 +async +5 +300 +9,\\d+")
        .contains("1 round: an interval needs 5", "STAND-IN routers");
  }

  @Test
  void marksDisturbedPoint() {
    Results sample = SampleResults.us2014();
    Point point = SampleResults.disturbed(sample.points().get(0));
    Results disturbed = new Results(sample.envelope(), List.of(point, sample.points().get(1)));

    assertThat(Reports.table(disturbed))
        .containsPattern("legacy \\* +5 ")
        .containsPattern("async +5 ")
        .contains("*: other virtual machines took more than 1 %", "+-%");
    assertThat(Reports.table(sample)).doesNotContain("*:", "  +-%:");
  }
}
