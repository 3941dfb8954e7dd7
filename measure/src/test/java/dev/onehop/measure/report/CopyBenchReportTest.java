package dev.onehop.measure.report;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.onehop.measure.results.CopyBenchResults;
import dev.onehop.measure.results.CopyBenchRun;
import dev.onehop.measure.results.ResultsFile;
import dev.onehop.measure.results.SampleCopyBenchResults;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The report of {@code bench copy}: as HTML, in a browser, as tables, and read again from its file.
 */
class CopyBenchReportTest {

  @TempDir private Path folder;

  private final CopyBenchResults results = SampleCopyBenchResults.all();

  @Test
  void tableComparesBothTools() {
    assertThat(Reports.table(results))
        .contains(
            "full, sharded, 1 collection: OneHop is 2.00 times as fast as the plain driver through"
                + " one mongos (ratio 2.00; from 2.00 to 2.00 in 3 rounds), and takes 0.68 times"
                + " as much processor time, servers included (ratio 0.68; from 0.68 to 0.68 in 3"
                + " rounds).",
            "incremental, sharded, 1 collection: OneHop is 1.50 times as fast",
            "lag, sharded, 1 collection: the p99 of OneHop is 2.00 times shorter than that of the"
                + " plain driver",
            "by router/s",
            "lag p50");
  }

  /** {@code bench verify} can run without another tool. The results then have only OneHop. */
  @Test
  void singleToolHasHeadline() {
    CopyBenchResults alone =
        new CopyBenchResults(
            results.envelope(),
            results.points().stream()
                .filter(run -> run.tool().equals(CopyBenchRun.ONEHOP))
                .toList());
    assertThat(Reports.table(alone))
        .containsPattern("full, sharded, 1 collection: [0-9,]+ documents per second with OneHop\\.")
        .doesNotContain("No point was finished");
  }

  @Test
  void showsCopyThatDiffers() {
    CopyBenchResults wrong = SampleCopyBenchResults.withOneThatDiffers();
    assertThat(wrong.faults()).isEqualTo(1);
    assertThat(Reports.table(wrong)).contains(" NO\n");
    assertThat(Reports.html(wrong, folder)).contains("1 of 2 copies differ from their source");
  }

  @Test
  void fileHasRequiredFieldsAndIsReadBack() throws Exception {
    ResultsFile.write(folder, results);

    assertThat(ResultsFile.readAny(folder)).isEqualTo(results);
    JsonNode json = new ObjectMapper().readTree(folder.resolve("results.json").toFile());
    for (String field :
        List.of(
            "phase",
            "tool",
            "source",
            "collections",
            "documentsPerSecond",
            "perRouter",
            "cores",
            "verified",
            "round",
            "toolCpuSeconds",
            "memoryBytes",
            "series")) {
      assertThat(json.path("points").path(0).has(field)).as(field).isTrue();
    }
    assertThat(json.at("/points/0/tool").asText()).isEqualTo("driver-one-mongos");
    assertThat(json.at("/points/2/phase").asText()).isEqualTo("incremental");
    assertThat(json.at("/points/2/lag").has("p99")).isTrue();
  }

  @Test
  void rendersCorrectlyInBrowser(@TempDir Path profile) throws Exception {
    ReportChecks.looksRight(Reports.write(folder, results), profile, "copy", 3);
  }
}
