package dev.onehop.measure.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.abort;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/** Checks for the report of every measuring command. */
final class ReportChecks {

  /** The width of a sheet in CSS pixels, without its margins. */
  private static final int A4 = 703;

  private static final Path SCREENSHOTS = Path.of("target/report-screenshots");

  private ReportChecks() {}

  /** The browser's program. Without a browser, the test is aborted; in CI, it fails. */
  static Path browser() {
    Optional<Path> program = Browser.program();
    if (program.isEmpty()) {
      String missing = "no chromium on the PATH: the report is not looked at in a browser";
      if (System.getenv("CI") != null) {
        throw new IllegalStateException(missing + ", which CI must do");
      }
      abort(missing);
    }
    return program.orElseThrow();
  }

  /** The result of the script {@code look.js} on the displayed page. */
  static JsonNode look(Browser browser) throws Exception {
    try (InputStream script =
        Objects.requireNonNull(ReportChecks.class.getResourceAsStream("look.js"))) {
      return browser.evaluate(new String(script.readAllBytes(), StandardCharsets.UTF_8));
    }
  }

  /**
   * Checks a page at two widths, and in print.
   *
   * @param name the start of the screenshots' names
   * @param charts the number of charts
   */
  static void looksRight(Path page, Path profile, String name, int charts) throws Exception {
    Browser browser = new Browser(browser(), profile);
    try {
      for (int width : new int[] {1280, 400}) {
        browser.show(page, width, false);
        browser.screenshot(SCREENSHOTS.resolve(name + "-" + width + ".png"));
        JsonNode seen = look(browser);
        assertThat(seen.path("charts")).hasSize(charts);
        for (String wrong :
            List.of("small", "overlapping", "outside", "tiny", "faint", "cut", "unlabelled")) {
          assertThat(seen.path(wrong)).as(wrong).isEmpty();
        }
        for (String wrong : List.of("undrawn", "tooWide", "broken")) {
          assertThat(seen.path(wrong).asInt()).as(wrong).isZero();
        }
        assertThat(browser.complaints()).isEmpty();
      }
      printsWhole(browser, name);
    } finally {
      browser.close();
    }
  }

  /** Checks that no table of the displayed page is wider than a sheet of paper. */
  static void printsWhole(Browser browser, String name) throws Exception {
    browser.pdf(SCREENSHOTS.resolve(name + ".pdf"));
    browser.print(A4);
    browser.screenshot(SCREENSHOTS.resolve(name + "-print.png"));
    assertThat(
            browser.evaluate(
                "[...document.querySelectorAll('.scroll')].filter(d => d.scrollWidth >"
                    + " d.clientWidth + 1).map(d => d.getAttribute('aria-label'))"))
        .as("tables that are cut on paper")
        .isEmpty();
  }
}
