package dev.onehop.measure.report;

import gg.jte.ContentType;
import gg.jte.TemplateEngine;
import gg.jte.output.StringOutput;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.regex.Matcher;

/**
 * Renders a sheet as a page. The templates are in {@code src/main/jte}, and the build compiles
 * them.
 */
final class Page {
  private static final TemplateEngine TEMPLATES =
      TemplateEngine.createPrecompiled(
          null, ContentType.Html, Page.class.getClassLoader(), Page.class.getPackageName());

  private Page() {}

  /** Returns the whole page as HTML. */
  static String of(Sheet sheet) {
    sheet.add(Facts.topology(sheet.results().topology()));
    StringOutput html = new StringOutput();
    TEMPLATES.render("page.jte", Map.of("sheet", sheet, "style", style()), html);
    return html.toString();
  }

  /**
   * Returns a chart as a separate SVG file. Like a page, it has light and dark colours.
   *
   * @param svg the chart, as {@link LineChart#svg} draws it
   */
  static String alone(String svg) {
    return svg.replaceFirst(
        "<svg class=\"chart [a-z]+\"([^>]*)>",
        Matcher.quoteReplacement("<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"alone\"")
            + "$1>\n"
            + Matcher.quoteReplacement("<style>" + style() + "</style>"));
  }

  private static String style() {
    try (InputStream css = Page.class.getResourceAsStream("report.css")) {
      if (css == null) {
        throw new IllegalStateException("report.css is missing from the class path");
      }
      return new String(css.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
