package dev.onehop.cli.report;

import dev.onehop.cli.report.LineChart.Size;
import dev.onehop.cli.report.LineChart.Spot;
import dev.onehop.cli.results.ScenarioResult;
import dev.onehop.cli.results.ScenarioResult.Group;
import dev.onehop.cli.results.ScenarioResult.Line;
import dev.onehop.cli.results.ScenarioResult.Second;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.DoubleSummaryStatistics;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** A scenario in the report and in the table: a sentence, charts over time, figures. */
final class ScenarioSection {
  private static final List<String> OFFICIAL = List.of("legacy", "async");
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
          "well after",
          "failed",
          "frozen shard: done/s before",
          "during",
          "well after",
          "failed");

  private final ScenarioResult scenario;

  ScenarioSection(ScenarioResult scenario) {
    this.scenario = scenario;
  }

  /** What happened, the best of the official clients beside the best routed one. */
  static String sentence(ScenarioResult scenario) {
    Optional<Line> official = best(scenario, line -> OFFICIAL.contains(line.mode()));
    Optional<Line> routed = best(scenario, line -> !OFFICIAL.contains(line.mode()));
    String what = "While " + scenario.fault() + ", operations on the other shards";
    if (official.isEmpty() && routed.isEmpty()) {
      return "No client was finished.";
    }
    List<String> parts = new ArrayList<>();
    official.ifPresent(line -> parts.add(part(line)));
    routed.ifPresent(line -> parts.add(part(line)));
    return what + " " + String.join("; ", parts) + ".";
  }

  private static Optional<Line> best(ScenarioResult scenario, Predicate<Line> which) {
    return scenario.lines().stream()
        .filter(which)
        .min(Comparator.comparingLong(line -> line.healthy().during().latency().p99()));
  }

  private static String part(Line line) {
    Group healthy = line.healthy();
    return "took %s ms at the 99th percentile with %s, %s ms before, and %s a second were done, %s before"
        .formatted(
            Format.millis(healthy.during().latency().p99()),
            series(line).name(line.connections()),
            Format.millis(healthy.before().latency().p99()),
            Format.rate(healthy.during().answeredPerSecond()),
            Format.rate(healthy.before().answeredPerSecond()));
  }

  private static Series series(Line line) {
    return new Series(line.mode(), line.connections(), line.pipelining(), false);
  }

  private String conditions() {
    return "%s operations a second at %s intervals, whether or not those before were answered. From second %d to %d, %s."
        .formatted(
            Format.rate(scenario.rate()),
            scenario.arrivals().equals("poisson") ? "random" : "even",
            scenario.from(),
            scenario.to(),
            scenario.fault());
  }

  /** For a terminal. */
  String table() {
    List<List<String>> rows = new ArrayList<>();
    rows.add(COLUMNS);
    scenario.lines().forEach(line -> rows.add(row(line)));
    int[] widths = ResultsTable.widths(rows);
    StringBuilder text = new StringBuilder("Scenario ").append(scenario.name()).append(": ");
    text.append(conditions()).append("\n\n");
    rows.forEach(row -> text.append(ResultsTable.line(row, widths)).append('\n'));
    text.append('\n').append(notes()).append("\n\n").append(sentence(scenario)).append("\n\n");
    return text.toString();
  }

  private static String notes() {
    return """
        Latencies in ms, from the intended time, of operations on the shards that are not frozen.
        well after: seconds from the end of the fault until no operation takes more than twice p99 before.
        failed: with an error, or not issued or not answered by the end."""
        .strip();
  }

  private static List<String> row(Line line) {
    Group healthy = line.healthy();
    Group ill = line.ill();
    return List.of(
        line.mode() + (line.pipelining() ? " (pipelined)" : ""),
        String.valueOf(line.connections()),
        Format.millis(healthy.before().latency().p50()),
        Format.millis(healthy.during().latency().p50()),
        Format.millis(healthy.before().latency().p99()),
        Format.millis(healthy.during().latency().p99()),
        Format.millis(healthy.after().latency().p99()),
        Format.rate(healthy.before().answeredPerSecond()),
        Format.rate(healthy.during().answeredPerSecond()),
        seconds(healthy.recoverySeconds()),
        Format.count(failed(healthy)),
        Format.rate(ill.before().answeredPerSecond()),
        Format.rate(ill.during().answeredPerSecond()),
        seconds(ill.recoverySeconds()),
        Format.count(failed(ill)));
  }

  private static long failed(Group group) {
    return group.before().failed() + group.during().failed() + group.after().failed();
  }

  private static String seconds(@Nullable Integer seconds) {
    return seconds == null ? "not seen" : seconds + " s";
  }

  /** For the report. */
  void appendTo(StringBuilder html) {
    html.append("<section id=\"").append(Html.escape(scenario.name())).append("\">\n<h2>Scenario ");
    html.append(Html.escape(scenario.name())).append("</h2>\n<p>");
    html.append(Html.escape(conditions())).append("</p>\n<ul class=\"legend\">");
    scenario.lines().forEach(line -> series(line).appendTo(html));
    html.append("</ul>\n<div class=\"grid\">\n");
    figure(
        html,
        latency("Other shards: 99th percentile of latency by second", Line::healthy),
        "Other shards: 99th percentile of latency, by the second in which operations were to be"
            + " issued");
    figure(
        html,
        answered("Other shards: operations answered by second", Line::healthy),
        "Other shards: operations answered");
    figure(
        html,
        answered("The frozen shard: operations answered by second", Line::ill),
        "The frozen shard: operations answered");
    html.append("</div>\n");
    StringBuilder rows = Tables.open("Scenario " + scenario.name(), COLUMNS.toArray(String[]::new));
    for (Line line : scenario.lines()) {
      List<String> row = row(line);
      Tables.row(rows, row.get(0), row.subList(1, row.size()).toArray(String[]::new));
    }
    html.append(Tables.close(rows));
    html.append("<p>").append(Html.escape(notes())).append("</p>\n</section>\n");
  }

  private static void figure(StringBuilder html, String svg, String caption) {
    html.append("<figure>").append(svg).append("<figcaption>").append(caption);
    html.append("</figcaption></figure>\n");
  }

  private String latency(String title, Function<Line, Group> group) {
    DoubleSummaryStatistics millis = new DoubleSummaryStatistics();
    scenario
        .lines()
        .forEach(
            line -> {
              for (Second second : group.apply(line).series()) {
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
        group,
        second -> second.p99() == null ? null : Math.max(0.01, second.p99() / 1000.0));
  }

  private String answered(String title, Function<Line, Group> group) {
    double most =
        scenario.lines().stream()
            .flatMap(line -> group.apply(line).series().stream())
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
      Function<Line, Group> group,
      Function<Second, @Nullable Double> value) {
    LineChart chart = new LineChart(title, Size.SMALL, Axis.seconds(scenario.seconds()), y);
    for (int moment : new int[] {scenario.from(), scenario.to()}) {
      chart.bound(
          "fault", "", List.of(new Spot(moment, y.low(), ""), new Spot(moment, y.high(), "")));
    }
    for (Line line : scenario.lines()) {
      List<Spot> spots = new ArrayList<>();
      List<Second> series = group.apply(line).series();
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
