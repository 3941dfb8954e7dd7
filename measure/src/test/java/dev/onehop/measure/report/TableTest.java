package dev.onehop.measure.report;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onehop.measure.results.LatencySummary;
import java.util.HashSet;
import java.util.List;
import org.junit.jupiter.api.Test;

class TableTest {
  private record Row(String name, Double rate, Integer count) {}

  private static final List<Row> ROWS =
      List.of(new Row("a", 1.5, null), new Row("long name", 1_234.0, null));

  private static Table table() {
    return Table.of(
        "Rates",
        ROWS,
        List.of(
            Column.text("client", Row::name),
            Column.<Row>of("ops/s", Format::rate, Row::rate).means("operations per second"),
            Column.<Row>of("count", Format::whole, Row::count).missingIf("no counters")));
  }

  @Test
  void nothingIsCutOff() {
    assertThat(table().text(new HashSet<>()))
        .isEqualTo(
            """

            Rates
            client     ops/s
            a            1.5
            long name  1,234
              ops/s: operations per second
              columns left out because they have no values: count (no counters)
            """);
  }

  @Test
  void aColumnWithoutAnyValueIsLeftOutWithAReason() {
    assertThat(table().columns()).containsExactly("client", "ops/s");
    assertThat(table().notes())
        .containsExactly(
            "ops/s: operations per second",
            "columns left out because they have no values: count (no counters)");
  }

  @Test
  void aMissingValueAmongOthersIsADash() {
    List<Row> rows = List.of(new Row("a", null, 1), new Row("b", 2.0, 2));
    Table table =
        Table.of("Rates", rows, List.of(Column.<Row>of("ops/s", Format::rate, Row::rate)));
    assertThat(table.rows().get(0).get(0).text()).isEqualTo("-");
    assertThat(table.rows().get(1).get(0).text()).isEqualTo("2.0");
  }

  @Test
  void theFirstFigureOfALatencyHasItsName() {
    LatencySummary latency = new LatencySummary(3, 1_500, 1_000, 0, 0, 20_000, 0, 2_000_000);
    Table table =
        Table.of("Lag", List.of(latency), Column.latencies("lag", its -> its, "p50", "p99", "max"));
    assertThat(table.columns()).containsExactly("lag p50", "p99", "max");
    assertThat(table.rows().get(0))
        .extracting(Table.Cell::text)
        .containsExactly("1.00", "20.0", "2,000");
  }
}
