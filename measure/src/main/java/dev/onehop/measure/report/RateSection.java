package dev.onehop.measure.report;

import dev.onehop.measure.report.LineChart.Size;
import dev.onehop.measure.report.LineChart.Spot;
import dev.onehop.measure.results.Client;
import dev.onehop.measure.results.LatencySummary;
import dev.onehop.measure.results.Results;
import dev.onehop.measure.results.ScenarioEntry;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.DoubleSummaryStatistics;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.function.ToDoubleFunction;

/** Operations at fixed rates in the report and in the table. */
final class RateSection {
  private static final double LEAST_MILLIS = 0.01;

  private static final List<String> COLUMNS =
      List.of(
          "rate/s",
          "client",
          "conns",
          "done/s",
          "p50",
          "p90",
          "p99",
          "p99.9",
          "service p50",
          "p99",
          "failed",
          "not issued",
          "not answered",
          "cpu us/op",
          "sockets");

  private static final String NOTES =
      """
      Latencies in ms, from the time at which an operation was to be issued; service: from issuing it.
      >=: some operations were not answered by the end; they count with the time they have waited."""
          .strip();

  private final List<ScenarioEntry> entries;

  RateSection(Results results) {
    this.entries = results.entries(ScenarioEntry.RATE);
  }

  /** Whether no operations were issued at a fixed rate. */
  boolean isEmpty() {
    return entries.isEmpty();
  }

  /** The best routed client beside the best official one, at the highest rate. */
  Optional<String> sentence() {
    double highest = entries.stream().mapToDouble(ScenarioEntry::rate).max().orElse(0);
    Optional<String> routed = best(highest, each -> each.client().isRouted());
    Optional<String> official = best(highest, each -> each.client().isOfficial());
    return routed
        .or(() -> official)
        .map(
            first ->
                "At "
                    + Format.rate(highest)
                    + " operations a second, the 99th percentile of the latency was "
                    + first
                    + (routed.isPresent() && official.isPresent()
                        ? ", and " + official.get() + ", the best of the official clients."
                        : "."));
  }

  private Optional<String> best(double rate, Predicate<ScenarioEntry> which) {
    return entries.stream()
        .filter(each -> each.rate() == rate)
        .filter(which)
        .min(Comparator.comparingLong(each -> each.latency().p99()))
        .map(
            each ->
                (each.notIssued() + each.unanswered() > 0 ? "at least " : "")
                    + Format.millis(each.latency().p99())
                    + " ms with "
                    + Series.of(each.client()).label());
  }

  /** For a terminal. */
  String table() {
    StringBuilder text = new StringBuilder();
    append(text, rows());
    text.append('\n').append(NOTES).append('\n');
    return text.toString();
  }

  private static void append(StringBuilder text, List<List<String>> rows) {
    int[] widths = ResultsTable.widths(rows);
    rows.forEach(row -> text.append(ResultsTable.line(row, widths)).append('\n'));
  }

  private List<ScenarioEntry> inOrder() {
    return entries.stream()
        .sorted(
            Comparator.comparingDouble(ScenarioEntry::rate)
                .thenComparing(ScenarioEntry::mode, ResultsTable.MODES)
                .thenComparing(ScenarioEntry::pipelining)
                .thenComparing(ScenarioEntry::connections))
        .toList();
  }

  private List<List<String>> rows() {
    List<List<String>> rows = new ArrayList<>();
    rows.add(COLUMNS);
    for (ScenarioEntry entry : inOrder()) {
      LatencySummary latency = entry.latency();
      String least = entry.notIssued() + entry.unanswered() > 0 ? ">=" : "";
      rows.add(
          List.of(
              Format.rate(entry.rate()),
              ResultsTable.name(entry.client(), entry.conditions()),
              String.valueOf(entry.connections()),
              Format.rate(entry.perSecond()),
              least + Format.millis(latency.p50()),
              least + Format.millis(latency.p90()),
              least + Format.millis(latency.p99()),
              least + Format.millis(latency.p999()),
              Format.millis(entry.service().p50()),
              Format.millis(entry.service().p99()),
              Format.count(entry.errors() - entry.notIssued() - entry.unanswered()),
              Format.count(entry.notIssued()),
              Format.count(entry.unanswered()),
              Format.micros(entry.cpu() == null ? null : entry.cpu().total()),
              entry.conditions() == null || entry.conditions().sockets() == null
                  ? Format.NONE
                  : String.valueOf(entry.conditions().sockets())));
    }
    return rows;
  }

  /** For the report. */
  void appendTo(StringBuilder html) {
    html.append("<section id=\"rates\">\n<h2>Fixed rates</h2>\n");
    html.append(
        "<p>Operations are issued at their times, whether or not those before are answered.");
    html.append("</p>\n<ul class=\"legend\">");
    List<Client> clients = inOrder().stream().map(ScenarioEntry::client).distinct().toList();
    clients.forEach(client -> Series.of(client).appendTo(html));
    html.append("</ul>\n<div class=\"grid\">\n");
    figure(html, "p50", clients, LatencySummary::p50, "Median");
    figure(html, "p99", clients, LatencySummary::p99, "99th percentile");
    html.append("</div>\n");
    html.append(Tables.of("Operations at fixed rates", rows()));
    html.append("<p>").append(Html.escape(NOTES)).append("</p>\n");
    html.append("</section>\n");
  }

  private void figure(
      StringBuilder html,
      String name,
      List<Client> clients,
      ToDoubleFunction<LatencySummary> value,
      String caption) {
    DoubleSummaryStatistics millis = new DoubleSummaryStatistics();
    DoubleSummaryStatistics rates = new DoubleSummaryStatistics();
    for (ScenarioEntry entry : entries) {
      millis.accept(Math.max(LEAST_MILLIS, entry.latency().p50() / 1000.0));
      millis.accept(Math.max(LEAST_MILLIS, entry.latency().p99() / 1000.0));
      rates.accept(entry.rate());
    }
    LineChart chart =
        new LineChart(
            "Latency by rate, " + name + ", in milliseconds",
            Size.SMALL,
            Axis.fromZero("operations per second", rates.getMax()),
            Axis.logarithmic(name + ", ms (log scale)", millis.getMin(), millis.getMax()));
    for (Client client : clients) {
      List<Spot> spots =
          inOrder().stream()
              .filter(entry -> entry.client().equals(client))
              .map(
                  entry -> {
                    double at = Math.max(LEAST_MILLIS, value.applyAsDouble(entry.latency()) / 1000);
                    return new Spot(
                        entry.rate(),
                        at,
                        Series.of(client).label() + ": " + Format.ofMillis(at) + " ms");
                  })
              .toList();
      chart.line(Series.of(client), "", spots);
    }
    html.append("<figure>").append(chart.toSvg()).append("<figcaption>").append(caption);
    html.append(" of the latency from the intended time, by rate</figcaption></figure>\n");
  }
}
