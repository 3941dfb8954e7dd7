package dev.onehop.measure.report;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.onehop.measure.results.ResultsFile;
import dev.onehop.measure.results.ResyncResults;
import dev.onehop.measure.results.SampleResyncResults;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The report of {@code resync}: as HTML, in a browser, as tables, and read again from its file. */
class ResyncReportTest {

  @TempDir private Path folder;

  private final ResyncResults results = SampleResyncResults.all();

  @Test
  void tableShowsWhereLinesCross() {
    assertThat(Reports.table(results))
        .contains(
            "0 indexes, 1 collection, 512 MiB: a copy of files takes 7.00 s, and an initial sync"
                + " takes 10.00 s (n = 3). The copy of files is 1.43 times as fast as the initial"
                + " sync. The fitted lines cross at 256 MiB. Above this size, the copy of files is"
                + " faster.",
            "5 indexes, 1 collection, 512 MiB: a copy of files takes 7.00 s, and an initial sync"
                + " takes 22.00 s",
            "reads p50");
  }

  @Test
  void fileHasRequiredFieldsAndIsReadBack() throws Exception {
    ResultsFile.write(folder, results);

    assertThat(ResultsFile.readAny(folder)).isEqualTo(results);
    JsonNode json = new ObjectMapper().readTree(folder.resolve("results.json").toFile());
    for (String field :
        List.of(
            "method",
            "indexes",
            "collections",
            "bytes",
            "seconds",
            "fixedSeconds",
            "methodProved",
            "equal",
            "lockedSeconds")) {
      assertThat(json.path("cells").path(0).has(field)).as(field).isTrue();
    }
  }

  @Test
  void rendersCorrectlyInBrowser(@TempDir Path profile) throws Exception {
    ReportChecks.looksRight(Reports.write(folder, results), profile, "resync", 2);
  }
}
