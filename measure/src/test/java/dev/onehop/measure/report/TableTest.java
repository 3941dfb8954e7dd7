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
    return new Columns<>("Rates", ROWS)
        .text("client", Row::name)
        .of("ops/s", Format::rate, Row::rate)
        .means("operations per second")
        .of("count", Format::whole, Row::count)
        .missingIf("no counters")
        .table();
  }

  @Test
  void textShowsFullValuesAndNotes() {
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
  void omitsEmptyColumnWithReason() {
    assertThat(table().columns()).containsExactly("client", "ops/s");
    assertThat(table().notes())
        .containsExactly(
            "ops/s: operations per second",
            "columns left out because they have no values: count (no counters)");
  }

  @Test
  void missingValueIsDash() {
    List<Row> rows = List.of(new Row("a", null, 1), new Row("b", 2.0, 2));
    Table table = new Columns<>("Rates", rows).of("ops/s", Format::rate, Row::rate).table();
    assertThat(table.rows().get(0).get(0).text()).isEqualTo("-");
    assertThat(table.rows().get(1).get(0).text()).isEqualTo("2.0");
  }

  @Test
  void firstLatencyColumnHasLatencyName() {
    LatencySummary latency = new LatencySummary(3, 1_500, 1_000, 0, 0, 20_000, 0, 2_000_000);
    Table table =
        new Columns<>("Lag", List.of(latency))
            .latencies("lag", its -> its, "p50", "p99", "max")
            .table();
    assertThat(table.columns()).containsExactly("lag p50", "p99", "max");
    assertThat(table.rows().get(0))
        .extracting(Table.Cell::text)
        .containsExactly("1.00", "20.0", "2,000");
  }

  @Test
  void latencyLegendBelongsToFirstColumn() {
    LatencySummary latency = new LatencySummary(3, 1_500, 1_000, 0, 0, 20_000, 0, 2_000_000);
    Table table =
        new Columns<>("Lag", List.of(latency))
            .latencies("lag", its -> its, "p50", "p99")
            .means("from the commit")
            .table();
    assertThat(table.notes()).containsExactly("lag p50: from the commit");
  }

  @Test
  void transposedTableHasColumnPerItemAndKeepsEmptyRows() {
    Table table =
        new Columns<>("Rates", ROWS)
            .text("", Row::name)
            .of("ops/s", Format::rate, Row::rate)
            .of("count", Format::whole, Row::count)
            .transposed();
    assertThat(table.text(new HashSet<>()))
        .isEqualTo(
            """

            Rates
                     a  long name
            ops/s  1.5      1,234
            count    -          -
            """);
  }
}
