package dev.onehop.measure.report;

import dev.onehop.measure.results.MachineFacts;
import dev.onehop.measure.results.Results;
import dev.onehop.measure.results.RunFacts;
import dev.onehop.measure.results.ServerFacts;
import dev.onehop.resync.Failure;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;

/** What every report has: the page around it, where things stood, and on what it ran. */
final class Page {

  private final Results results;

  Page(Results results) {
    this.results = results;
  }

  /** A page up to its heading. */
  static StringBuilder open(String title) {
    StringBuilder html = new StringBuilder();
    html.append("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
    html.append("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n");
    html.append("<meta name=\"color-scheme\" content=\"light dark\">\n");
    html.append("<title>").append(Html.escape(title)).append("</title>\n");
    html.append("<style>\n").append(style()).append("</style>\n</head>\n<body>\n<main>\n");
    return html.append("<h1>").append(Html.escape(title)).append("</h1>\n");
  }

  /** The whole page. */
  static String close(StringBuilder html) {
    return html.append("</main>\n</body>\n</html>\n").toString();
  }

  /**
   * Writes a page.
   *
   * @throws Failure if it can't be written
   */
  static Path write(Path file, String html) {
    try {
      Files.writeString(file, html);
    } catch (IOException e) {
      throw Failure.run("cannot write " + file + ": " + Failure.reason(e), e);
    }
    return file;
  }

  static void notice(StringBuilder html, String text) {
    html.append("<p class=\"notice\">").append(Html.escape(text)).append("</p>\n");
  }

  void topology(StringBuilder html) {
    Tables tables = new Tables(results);
    html.append("<section id=\"topology\">\n<h2>Topology ")
        .append(Html.escape(results.topology().name()));
    html.append("</h2>\n").append(tables.hosts()).append(tables.roundTrips());
    html.append("</section>\n");
  }

  void facts(StringBuilder html) {
    html.append("<section id=\"facts\">\n<h2>Servers and machine</h2>\n");
    Map<String, String> facts = new LinkedHashMap<>();
    facts.put("mongod", results.server().mongod());
    String fcv = results.server().featureCompatibilityVersion();
    if (fcv != null && !fcv.isEmpty()) {
      facts.put("feature compatibility", fcv);
    }
    if (!results.server().router().kind().equals(ServerFacts.Router.NONE)) {
      facts.put("routers", ResultsTable.routerText(results));
    }
    MachineFacts machine = results.machine();
    if (machine != null) {
      facts.put("processor", machine.cpu() + ", " + machine.cores() + " cores");
      facts.put("memory", Format.count(machine.memoryMebibytes()) + " MiB");
      facts.put("system", machine.os());
      facts.put("Java", machine.java());
      facts.put("MongoDB Java driver", machine.mongoDriver());
      facts.put("YCSB", machine.ycsb());
      facts.put(
          "OneHop",
          machine.onehop() + (machine.revision().isEmpty() ? "" : " (" + machine.revision() + ")"));
    }
    RunFacts run = results.run();
    if (run != null) {
      facts.put("started", run.started());
      facts.put("workload", run.workload());
      facts.put("documents", Format.count(run.records()));
      if (!run.properties().isEmpty()) {
        facts.put("properties", run.properties().toString());
      }
    }
    html.append(Tables.facts(facts)).append("</section>\n");
  }

  /**
   * How to repeat the run.
   *
   * @param logs HTML that says which logs lie beside the page
   */
  void reproduce(StringBuilder html, String logs) {
    RunFacts run = results.run();
    if (run != null) {
      html.append("<section id=\"reproduce\">\n<h2>How to reproduce</h2>\n<pre>");
      html.append(Html.escape(run.command())).append("</pre>\n<p>").append(logs);
      html.append(" beside this page; <code>bin/onehop report</code> with the folder draws it");
      html.append(" again.</p>\n</section>\n");
    }
  }

  private static String style() {
    try (InputStream css = Report.class.getResourceAsStream("report.css")) {
      if (css == null) {
        throw new IllegalStateException("report.css is missing from the class path");
      }
      return new String(css.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
