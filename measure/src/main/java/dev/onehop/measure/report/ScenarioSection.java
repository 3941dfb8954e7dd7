package dev.onehop.measure.report;

import dev.onehop.measure.report.LineChart.Size;
import dev.onehop.measure.report.LineChart.Spot;
import dev.onehop.measure.results.LatencySummary;
import dev.onehop.measure.results.Results;
import dev.onehop.measure.results.ScenarioEntry;
import dev.onehop.measure.results.Timeline;
import dev.onehop.measure.results.Timeline.Group;
import dev.onehop.measure.results.Timeline.Line;
import dev.onehop.measure.results.Timeline.Second;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.DoubleSummaryStatistics;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.ToLongFunction;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** A scenario in the report and in the table: a sentence, charts over time, figures. */
final class ScenarioSection {
  private static final List<String> COLUMNS =
      List.of(
          "client",
          "conns",
          "p50 before",
          "during",
          "p99 before",
          "during",
          "after",
          "done/s before",
          "during",
          "after",
          "well after",
          "failed");

  private static final String NOTES =
      """
      Latencies in ms, from the intended time.
      well after: seconds from the end of the fault until no operation takes more than twice the p99 before.
      failed: with an error, or not issued or not answered by the end."""
          .strip();

  private final Timeline scenario;
  private final List<ScenarioEntry> entries;

  /**
   * @param scenario one of the results' timelines
   */
  ScenarioSection(Timeline scenario, Results results) {
    this.scenario = scenario;
    this.entries = results.entries(scenario.scenario());
  }

  /** The figures of a client's phase; null if they are missing. */
  private @Nullable ScenarioEntry entry(Line line, String phase, String shards) {
    return entries.stream()
        .filter(each -> each.client().equals(line.client()))
        .filter(each -> each.phase().equals(phase) && each.shards().equals(shards))
        .findFirst()
        .orElse(null);
  }

  /** What happened, the best of the official clients beside the best routed one. */
  String sentence() {
    Optional<Line> official = best(line -> line.client().isOfficial());
    Optional<Line> routed = best(line -> !line.client().isOfficial());
    if (official.isEmpty() && routed.isEmpty()) {
      return "No client was finished.";
    }
    List<String> parts = new ArrayList<>();
    official.ifPresent(line -> parts.add(part(line)));
    routed.ifPresent(line -> parts.add(part(line)));
    return "While "
        + scenario.fault()
        + ", operations "
        + (scenario.shard() == null ? "" : "on the other shards ")
        + "took, at the 99th percentile, "
        + String.join("; ", parts)
        + ".";
  }

  private Optional<Line> best(Predicate<Line> which) {
    return scenario.lines().stream()
        .filter(which)
        .filter(line -> entry(line, "during", scenario.healthyShards()) != null)
        .min(
            Comparator.comparingLong(
                line ->
                    Objects.requireNonNull(entry(line, "during", scenario.healthyShards()))
                        .latency()
                        .p99()));
  }

  private String part(Line line) {
    ScenarioEntry before = entry(line, "before", scenario.healthyShards());
    ScenarioEntry during = entry(line, "during", scenario.healthyShards());
    return "%s ms with %s (%s before), and %s a second were done (%s before)"
        .formatted(
            millis(during, LatencySummary::p99),
            series(line).name(line.client().connections()),
            millis(before, LatencySummary::p99),
            Format.rate(perSecond(during)),
            Format.rate(perSecond(before)));
  }

  private static String millis(@Nullable ScenarioEntry entry, ToLongFunction<LatencySummary> of) {
    return entry == null ? Format.NONE : Format.millis(of.applyAsLong(entry.latency()));
  }

  private static @Nullable Double perSecond(@Nullable ScenarioEntry entry) {
    return entry == null ? null : (Double) entry.perSecond();
  }

  private static Series series(Line line) {
    return Series.of(line.client());
  }

  private String conditions() {
    return "%s operations a second at %s intervals, whether or not those before were answered. From second %d to %d %s."
        .formatted(
            Format.rate(scenario.rate()),
            scenario.arrivals().equals("poisson") ? "random" : "even",
            scenario.from(),
            scenario.to(),
            scenario.fault());
  }

  /** For a terminal. */
  String table() {
    StringBuilder text = new StringBuilder("Scenario ").append(scenario.scenario()).append(": ");
    text.append(conditions()).append("\n");
    tables()
        .forEach(
            (title, rows) -> {
              int[] widths = ResultsTable.widths(rows);
              text.append('\n').append(title).append('\n');
              rows.forEach(row -> text.append(ResultsTable.line(row, widths)).append('\n'));
            });
    text.append('\n').append(NOTES).append("\n\n").append(sentence()).append("\n\n");
    return text.toString();
  }

  /** The tables by their titles, each with a header. */
  private Map<String, List<List<String>>> tables() {
    Map<String, List<List<String>>> tables = new LinkedHashMap<>();
    tables.put(others(), rows(scenario.healthyShards(), Line::healthy));
    if (scenario.shard() != null) {
      tables.put("Operations on " + scenario.shard(), rows("affected", Line::affected));
    }
    return tables;
  }

  private String others() {
    return scenario.shard() == null ? "All operations" : "Operations on the other shards";
  }

  private List<List<String>> rows(String shards, Function<Line, @Nullable Group> group) {
    List<List<String>> rows = new ArrayList<>();
    rows.add(COLUMNS);
    for (Line line : scenario.lines()) {
      Group its = group.apply(line);
      if (its != null) {
        rows.add(row(line, its, shards));
      }
    }
    return rows;
  }

  private List<String> row(Line line, Group group, String shards) {
    ScenarioEntry before = entry(line, "before", shards);
    ScenarioEntry during = entry(line, "during", shards);
    ScenarioEntry after = entry(line, "after", shards);
    return List.of(
        line.client().mode() + (line.client().pipelining() ? " (pipelined)" : ""),
        String.valueOf(line.client().connections()),
        millis(before, LatencySummary::p50),
        millis(during, LatencySummary::p50),
        millis(before, LatencySummary::p99),
        millis(during, LatencySummary::p99),
        millis(after, LatencySummary::p99),
        Format.rate(perSecond(before)),
        Format.rate(perSecond(during)),
        Format.rate(perSecond(after)),
        seconds(group.recoverySeconds()),
        Format.count(
            Stream.of(before, during, after)
                .filter(Objects::nonNull)
                .mapToLong(ScenarioEntry::errors)
                .sum()));
  }

  private static List<Second> series(@Nullable Group group) {
    return group == null ? List.of() : group.series();
  }

  private static String seconds(@Nullable Integer seconds) {
    return seconds == null ? "not seen" : seconds + " s";
  }

  /** For the report. */
  void appendTo(StringBuilder html) {
    html.append("<section id=\"")
        .append(Html.escape(scenario.scenario()))
        .append("\">\n<h2>Scenario ");
    html.append(Html.escape(scenario.scenario())).append("</h2>\n<p>");
    html.append(Html.escape(conditions())).append("</p>\n<ul class=\"legend\">");
    scenario.lines().forEach(line -> series(line).appendTo(html));
    html.append("</ul>\n<div class=\"grid\">\n");
    figure(
        html,
        latency(others() + ": 99th percentile of latency by second"),
        others() + ": 99th percentile of latency, by the second in which they were to be issued");
    figure(html, answered(others() + " by second", Line::healthy), others() + ": answered");
    if (scenario.shard() != null) {
      String there = "Operations on " + scenario.shard();
      figure(
          html, answered(there + " by second", Line::affected), Html.escape(there) + ": answered");
    }
    html.append("</div>\n");
    tables().forEach((title, rows) -> html.append(Tables.of(title, rows)));
    html.append("<p>").append(Html.escape(NOTES)).append("</p>\n</section>\n");
  }

  private static void figure(StringBuilder html, String svg, String caption) {
    html.append("<figure>").append(svg).append("<figcaption>").append(caption);
    html.append("</figcaption></figure>\n");
  }

  private String latency(String title) {
    DoubleSummaryStatistics millis = new DoubleSummaryStatistics();
    scenario
        .lines()
        .forEach(
            line -> {
              for (Second second : line.healthy().series()) {
                if (second.p99() != null) {
                  millis.accept(Math.max(0.01, second.p99() / 1000.0));
                }
              }
            });
    if (millis.getCount() == 0) {
      millis.accept(1);
    }
    return chart(
        title,
        Axis.logarithmic("p99, ms (log scale)", millis.getMin(), millis.getMax()),
        millis.getMin(),
        Line::healthy,
        second -> second.p99() == null ? null : Math.max(0.01, second.p99() / 1000.0));
  }

  private String answered(String title, Function<Line, @Nullable Group> group) {
    double most =
        scenario.lines().stream()
            .flatMap(line -> series(group.apply(line)).stream())
            .mapToDouble(Second::answered)
            .max()
            .orElse(1);
    return chart(
        title,
        Axis.fromZero("operations per second", most),
        0,
        group,
        second -> (double) second.answered());
  }

  private String chart(
      String title,
      Axis y,
      double foot,
      Function<Line, @Nullable Group> group,
      Function<Second, @Nullable Double> value) {
    LineChart chart = new LineChart(title, Size.SMALL, Axis.seconds(scenario.seconds()), y);
    for (int moment : new int[] {scenario.from(), scenario.to()}) {
      chart.bound(
          "fault", "", List.of(new Spot(moment, y.low(), ""), new Spot(moment, y.high(), "")));
    }
    for (Line line : scenario.lines()) {
      List<Spot> spots = new ArrayList<>();
      List<Second> series = series(group.apply(line));
      for (int i = 0; i < series.size(); i++) {
        Double at = value.apply(series.get(i));
        if (at != null) {
          spots.add(new Spot(i + 0.5, Math.max(foot, at), ""));
        }
      }
      chart.curve(series(line), spots);
    }
    return chart.toSvg();
  }
}
