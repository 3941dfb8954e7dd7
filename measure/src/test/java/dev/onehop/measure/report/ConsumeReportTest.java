package dev.onehop.measure.report;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.onehop.measure.results.ConsumePoint;
import dev.onehop.measure.results.ConsumeResults;
import dev.onehop.measure.results.Envelope;
import dev.onehop.measure.results.Results;
import dev.onehop.measure.results.ResultsFile;
import dev.onehop.measure.results.RunFacts;
import dev.onehop.measure.results.SampleConsumeResults;
import dev.onehop.measure.results.SampleResults;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The report of {@code consume}: as HTML, in a browser, as tables, and read again from its file.
 */
class ConsumeReportTest {

  @TempDir private Path folder;

  private final ConsumeResults results = SampleConsumeResults.all();

  @Test
  void everyChartShowsBothSources() throws Exception {
    SampleConsumeResults.writeLogs(results, folder);
    String html = Reports.html(results, folder);

    List<String> charts = List.of(html.split("<svg class=\"chart ", -1));
    // The summands in order. Drain: 2 rate charts. Live: 2 rate charts, 2 lag charts (p50, p99), 3
    // percentile charts, 1 chart over time. Idle: 2 charts. Each chart is there for wide and for
    // narrow pages.
    assertThat(charts).hasSize(1 + 2 * (2 + 2 + 2 + 3 + 1 + 2));
    assertThat(charts.subList(1, charts.size()))
        .allSatisfy(chart -> assertThat(chart).contains("series c1", "series c3"));
    assertThat(html)
        .contains(
            "<p class=\"lede\">From the shards, a backlog is read at 179,900 rows a second in"
                + " total. This is 3.00 times as fast as through a mongos (59,900 rows a second).",
            "Per core of the consumer, this is 199,889 rows a second. Alibaba's paper on"
                + " Tablestore's Tunnel Service reports 98,000",
            "stand-in, not mongos",
            "bin/onehop consume --quick")
        .doesNotContain("Unfinished", "were lost");
  }

  @Test
  void tableShowsEveryPointWithResults() {
    String table = Reports.table(results);

    assertThat(table)
        .contains("Drain: rows are read after all were written\nsource", "Live: ", "Idle shard: ")
        .contains("rows/s/core", "lag p50", "out of order", "STAND-IN");
    assertThat(table.lines().filter(line -> line.startsWith("direct"))).hasSize(7);
    assertThat(table)
        .containsPattern(
            "one order, the lag from each shard is \\S+ ms \\(p50\\) and \\S+ ms \\(p99\\)");
  }

  @Test
  void showsFaultsAndUnfinishedRun() {
    ConsumePoint wrong = faulty(results.points().get(0));
    RunFacts run = results.run();
    ConsumeResults stopped =
        new ConsumeResults(
            new Envelope(
                new RunFacts(
                    run.started(),
                    run.command(),
                    false,
                    "interrupted",
                    14,
                    new RunFacts.Load(
                        0, "", Map.of(), null, List.of("the clock"), 1, 0, null, null)),
                results.topology(),
                results.server(),
                null),
            List.of(wrong));

    assertThat(stopped.faults()).isEqualTo(10);
    assertThat(Reports.html(stopped, folder))
        .contains(
            "Unfinished run: 1 of 14 measurements (interrupted).",
            "10 rows were lost, doubled, out of order, or received without an acknowledged write",
            "5 lags were below zero",
            "Unknown: the clock.");
  }

  private static ConsumePoint faulty(ConsumePoint point) {
    return new ConsumePoint(
        point.source(),
        point.order(),
        point.channels(),
        point.processes(),
        point.kind(),
        point.rows(),
        point.seconds(),
        point.rowsPerSecond(),
        point.millisPer1000(),
        null,
        null,
        null,
        null,
        0,
        point.mbitPerSecond(),
        null,
        null,
        null,
        1,
        2,
        3,
        4,
        5,
        point.windows(),
        point.folder());
  }

  @Test
  void fileHasRequiredFieldsAndIsReadBack() throws Exception {
    ResultsFile.write(folder, results);

    assertThat(ResultsFile.readAny(folder)).isEqualTo(results);
    JsonNode json = new ObjectMapper().readTree(folder.resolve("results.json").toFile());
    assertThat(json.path("command").asText()).isEqualTo("consume");
    assertThat(json.path("topology").path("name").asText()).isEqualTo("us-2014");
    for (String field :
        List.of(
            "source",
            "order",
            "channels",
            "processes",
            "kind",
            "rowsPerSecond",
            "millisPer1000",
            "cores",
            "memoryBytes",
            "mbitPerSecond",
            "lag",
            "lost",
            "doubled",
            "outOfOrder")) {
      assertThat(json.path("points").path(13).has(field)).as(field).isTrue();
    }
    assertThat(json.path("points").path(13).path("lag").path("p50").asLong()).isPositive();
  }

  @Test
  void benchFileIsReadAsBenchResults() {
    ResultsFile.write(folder, SampleResults.us2014());
    assertThat(ResultsFile.readAny(folder)).isInstanceOf(Results.class);
  }

  @Test
  void rendersCorrectlyInBrowser(@TempDir Path profile) throws Exception {
    SampleConsumeResults.writeLogs(results, folder);
    ReportChecks.looksRight(Reports.write(folder, results), profile, "consume", 12);
  }
}
