package dev.onehop.cli.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.abort;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.onehop.cli.OneHopCommand;
import dev.onehop.cli.results.ConsumeResults;
import dev.onehop.cli.results.ResultsFile;
import dev.onehop.cli.results.ResyncResults;
import dev.onehop.cli.results.SampleResyncResults;
import java.io.InputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The report of resync in HTML, in a browser, as tables and again from its file. */
class ResyncReportTest {

  @TempDir private Path folder;

  private final ResyncResults results = SampleResyncResults.all();

  @Test
  void tableAndSentencesSayWhereTheLinesCross() {
    assertThat(ResyncTable.render(results))
        .contains(
            "0 indexes, 1 collection: at 512 MiB files take 7.00 s and an initial sync 10.00 s (n ="
                + " 3); the lines cross at 256 MiB: beyond, files are quicker.",
            "5 indexes, 1 collection: at 512 MiB files take 7.00 s and an initial sync 22.00 s",
            "reads p50");
  }

  @Test
  void theFileHasTheShapeThatOthersRelyOnAndIsReadAgain() throws Exception {
    ResultsFile.write(folder, results);

    assertThat(ResultsFile.read(folder, ResyncResults.class, ResyncResults.COMMAND))
        .contains(results);
    assertThat(ResultsFile.read(folder, ConsumeResults.class, ConsumeResults.COMMAND)).isEmpty();
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
  void reportDrawsItAgain() throws Exception {
    ResultsFile.write(folder, results);
    StringWriter out = new StringWriter();
    int exitCode =
        OneHopCommand.commandLine()
            .setOut(new PrintWriter(out))
            .execute("report", folder.toString());

    assertThat(exitCode).isZero();
    assertThat(out.toString()).startsWith(ResyncTable.render(results));
    assertThat(Files.readString(folder.resolve("report.html"))).contains("OneHop resync");
  }

  @Test
  void looksRightInABrowser(@TempDir Path profile) throws Exception {
    Optional<Path> program = Browser.program();
    if (program.isEmpty()) {
      abort("no chromium on the PATH: the report is not looked at in a browser");
    }
    Path page = ResyncReport.write(folder, results);
    Browser browser = new Browser(program.get(), profile);
    try (InputStream script =
        Objects.requireNonNull(ResyncReportTest.class.getResourceAsStream("look.js"))) {
      String look = new String(script.readAllBytes(), StandardCharsets.UTF_8);
      for (int width : new int[] {1280, 400}) {
        browser.show(page, width, false);
        browser.screenshot(Path.of("target/report-screenshots/resync-" + width + ".png"));
        JsonNode seen = browser.evaluate(look);
        assertThat(seen.path("charts")).hasSize(2);
        for (String wrong : List.of("small", "overlapping", "outside", "tiny", "faint")) {
          assertThat(seen.path(wrong)).as(wrong).isEmpty();
        }
        for (String wrong : List.of("undrawn", "tooWide", "broken")) {
          assertThat(seen.path(wrong).asInt()).as(wrong).isZero();
        }
        assertThat(browser.complaints()).isEmpty();
      }
    } finally {
      browser.close();
    }
  }
}
