package dev.onehop.measure.report;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.onehop.measure.results.Envelope;
import dev.onehop.measure.results.LatencySummary;
import dev.onehop.measure.results.PropagateMeasurement;
import dev.onehop.measure.results.PropagateResults;
import dev.onehop.measure.results.PropagateResults.Streams;
import dev.onehop.measure.results.Results;
import dev.onehop.measure.results.ResultsFile;
import dev.onehop.measure.results.RunFacts;
import dev.onehop.measure.results.SampleResults;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The report of {@code propagate}: as HTML, in a browser, as tables, and read again from its file.
 */
public class PropagateReportTest {

  private static final List<String> PATHS = List.of("mongos", "shards", "ordered");

  @TempDir private Path folder;

  private final PropagateResults results = results(true, 0);

  public static PropagateResults results(boolean complete, long lost) {
    List<PropagateMeasurement> all = new ArrayList<>();
    for (int batch : new int[] {1, 10, 100}) {
      for (String path : PATHS) {
        all.add(measurement("client-to-client", path, 1, batch, lost));
      }
    }
    for (String path : PATHS) {
      all.add(measurement("bootstrap", path, 1, 1, 0));
    }
    for (int clients : new int[] {1, 4, 16}) {
      for (String path : PATHS) {
        all.add(measurement(PropagateMeasurement.LOAD, path, clients, 1, 0));
      }
    }
    Results bench = SampleResults.us2014();
    return new PropagateResults(
        new Envelope(
            new RunFacts(
                "2026-11-23T10:30:00Z",
                "bin/onehop propagate --batch 1,10,100",
                complete,
                complete ? null : "interrupted",
                7,
                new RunFacts.Load(
                    0, "objects and signals", Map.of(), null, List.of(), 5, 0, null, null)),
            bench.topology(),
            bench.server(),
            bench.machine()),
        new Streams(1_000, Map.of("config", 1.0), "key", true),
        all);
  }

  private static PropagateMeasurement measurement(
      String name, String path, int clients, int batch, long lost) {
    long scale = (path.equals("mongos") ? 1_000_000 : 15_000) + 1_000L * (clients + batch);
    LatencySummary times =
        new LatencySummary(
            5_000, scale, scale, 2 * scale, 2 * scale, 3 * scale, 4 * scale, 5 * scale);
    boolean bootstrap = name.equals("bootstrap");
    return new PropagateMeasurement(
        name,
        path,
        clients,
        1,
        1_000,
        batch,
        200,
        5,
        times,
        bootstrap ? null : times,
        bootstrap ? null : times,
        name.equals("client-to-client") ? null : times,
        lost,
        0,
        0,
        "folder");
  }

  @Test
  void listsBecomeChartsOfAllPaths() {
    String html = Reports.html(results, folder);

    List<String> charts = List.of(html.split("<svg class=\"chart ", -1));
    assertThat(charts).hasSize(1 + 2 * 3);
    assertThat(html.split("class=\"legend narrow\"", -1)).hasSize(1 + 3);
    assertThat(charts.subList(1, charts.size()))
        .allSatisfy(chart -> assertThat(chart).contains("series c1", "series c2", "series c3"));
    assertThat(html)
        .contains(
            "Time of a test by objects per write, 1,000 objects, p50 in milliseconds",
            "Time until live by clients, 1,000 objects, p50 in milliseconds",
            "Intervals of no-op writes on idle servers: config 1.0 s. Await time",
            "stand-in, not mongos")
        .doesNotContain("Unfinished", "were lost");
  }

  @Test
  void tableHasColumnForEachPath() {
    String table = Reports.table(results);

    assertThat(table)
        .containsPattern(
            "client-to-client: 1,000 objects of 200 bytes, 10 per write, 5 tests; times in ms\n")
        .containsPattern("\n +mongos +shards +ordered\n")
        .containsPattern("seen p50 +1,002 +17.0 +17.0\n")
        .containsPattern("test max +5,010 +85.0 +85.0\n")
        .containsPattern("live p99.9 +4,008 +68.0 +68.0\n")
        .containsPattern("load: .*, 16 clients in 1 process; times in ms\n")
        .contains("from begin p99", "read p50", "lost", "doubled", "STAND-IN");
  }

  @Test
  void showsFaultsAndUnfinishedRun() {
    PropagateResults wrong = results(false, 2);

    assertThat(wrong.faults()).isEqualTo(18);
    assertThat(Reports.html(wrong, folder))
        .contains(
            "Unfinished run: 7 of 7 measurements (interrupted).",
            "18 objects were lost or doubled");
  }

  @Test
  void fileHasRequiredFieldsAndIsReadBack() throws Exception {
    ResultsFile.write(folder, results);

    assertThat(ResultsFile.readAny(folder)).isEqualTo(results);
    JsonNode json = new ObjectMapper().readTree(folder.resolve("results.json").toFile());
    JsonNode first = json.path("measurements").path(0);
    for (String field :
        List.of("name", "path", "documents", "batch", "runs", "latency", "lost", "doubled")) {
      assertThat(first.has(field)).as(field).isTrue();
    }
    assertThat(first.path("latency").path("p999").asLong()).isPositive();
    ResultsFile.write(folder, SampleResults.us2014());
    assertThat(ResultsFile.readAny(folder)).isInstanceOf(Results.class);
  }

  @Test
  void rendersCorrectlyInBrowser(@TempDir Path profile) throws Exception {
    ReportChecks.looksRight(Reports.write(folder, results), profile, "propagate", 3);
  }
}
