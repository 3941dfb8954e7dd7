package dev.onehop.measure.report;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.onehop.measure.results.Results;
import dev.onehop.measure.results.SampleResults;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The report in a real browser. Screenshots are written to {@code target/report-screenshots}. */
class ReportInBrowserTest {
  private static final Path SCREENSHOTS = Path.of("target/report-screenshots");

  @TempDir private static Path profile;
  @TempDir private static Path folder;

  private static @Nullable Browser browser;
  private static Results results = SampleResults.us2014();
  private static Path page = Path.of("");

  @BeforeAll
  static void open() throws Exception {
    Path program = ReportChecks.browser();
    SampleResults.writeLogs(results, folder);
    page = Reports.write(folder, results);
    browser = new Browser(program, profile);
  }

  @AfterAll
  static void close() throws Exception {
    if (browser != null) {
      browser.close();
    }
  }

  private static Browser show(int width, boolean dark) throws Exception {
    Browser shown = Objects.requireNonNull(browser);
    shown.show(page, width, dark);
    return shown;
  }

  private static List<String> texts(JsonNode list) {
    List<String> texts = new ArrayList<>();
    list.forEach(text -> texts.add(text.asText()));
    return texts;
  }

  @ParameterizedTest
  @CsvSource({"1280, false", "1280, true", "400, false", "400, true"})
  void looksRight(int width, boolean dark) throws Exception {
    Browser shown = show(width, dark);
    JsonNode seen = ReportChecks.look(shown);
    shown.screenshot(SCREENSHOTS.resolve(width + (dark ? "-dark.png" : "-light.png")));

    // 13 charts: throughput, and six each of reads and of updates. The six are mean, p95, p99, and
    // percentile curves at three numbers of threads.
    assertThat(texts(seen.path("charts")))
        .hasSize(13)
        .contains(
            "Throughput by threads, in operations per second",
            "UPDATE latency by percentile at 64 threads, in milliseconds");
    assertThat(texts(seen.path("cut"))).as("tables that are cut without notice").isEmpty();
    assertThat(texts(seen.path("unlabelled"))).as("charts with lines that have no name").isEmpty();
    assertThat(texts(seen.path("small"))).as("charts that are too small").isEmpty();
    assertThat(seen.path("undrawn").asInt()).as("lines that are not drawn").isZero();
    assertThat(seen.path("bars").asInt()).isEqualTo(results.points().size() * (1 + 3));
    assertThat(texts(seen.path("overlapping"))).as("texts over each other").isEmpty();
    assertThat(texts(seen.path("outside"))).as("texts outside their drawing").isEmpty();
    assertThat(texts(seen.path("tiny"))).as("texts too small to read").isEmpty();
    assertThat(texts(seen.path("faint"))).as("texts with little contrast").isEmpty();
    assertThat(seen.path("tooWide").asInt()).as("pixels to scroll sideways").isZero();
    assertThat(seen.path("broken").asInt()).as("links to nowhere").isZero();

    assertThat(shown.complaints()).as("the console").isEmpty();
    assertThat(shown.requests()).containsExactly(page.toUri().toString());
  }

  @Test
  void printsWholeTables() throws Exception {
    ReportChecks.printsWhole(show(1280, false), "bench");
  }

  @Test
  void followsPreferredColourScheme() throws Exception {
    String paper = "getComputedStyle(document.body).backgroundColor";
    assertThat(show(1280, true).evaluate(paper).asText())
        .startsWith("rgb")
        .isNotEqualTo(show(1280, false).evaluate(paper).asText());
  }

  @Test
  void pointerShowsTooltip() throws Exception {
    Browser shown = show(1280, false);
    String visibility =
        "getComputedStyle(document.querySelector('svg.wide .spot:last-child .tip')).visibility";
    assertThat(shown.evaluate(visibility).asText()).isEqualTo("hidden");
    shown.point("svg.wide .spot:last-child .hit");
    assertThat(shown.evaluate(visibility).asText()).isEqualTo("visible");
  }
}
