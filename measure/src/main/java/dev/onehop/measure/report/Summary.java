package dev.onehop.measure.report;

import dev.onehop.measure.results.MachineFacts;
import dev.onehop.measure.results.Point;
import dev.onehop.measure.results.Results;
import dev.onehop.measure.results.RouterCost;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** What the report opens with: the comparison, what each scenario did, and the run's limits. */
final class Summary {
  private final Results results;
  private final Optional<Comparison> comparison;

  Summary(Results results) {
    this.results = results;
    this.comparison = Comparison.of(results);
  }

  void appendTo(StringBuilder html) {
    List<String> findings = findings();
    html.append("<p class=\"lede\">").append(Html.escape(findings.get(0))).append("</p>\n");
    figures(html);
    html.append("<div class=\"summary\">\n");
    list(html, "Also", findings.subList(1, findings.size()));
    list(html, "Limits of this run", limits());
    html.append("</div>\n");
  }

  /** One sentence per scenario and one for the points, the one that tells most first. */
  private List<String> findings() {
    List<String> findings = new ArrayList<>();
    results
        .timelines()
        .forEach(each -> findings.add(new ScenarioSection(each, results).sentence()));
    results.zones().forEach(each -> findings.add(ZonesSection.sentence(each)));
    new RateSection(results).sentence().ifPresent(findings::add);
    results.fleets().forEach(each -> findings.add(new FleetSection(each).sentence()));
    List<String> pools = PoolVerdicts.of(results);
    findings.addAll(pools);
    if (pools.isEmpty()) {
      comparison.map(Comparison::sentence).or(this::fastest).ifPresent(findings::add);
    }
    return findings.isEmpty() ? List.of("No point was finished.") : findings;
  }

  private Optional<String> fastest() {
    return results.points().stream()
        .max(Comparator.comparingInt(Point::threads).thenComparingDouble(Point::throughput))
        .map(
            point ->
                "At %d threads, %s did %s operations per second."
                    .formatted(
                        point.threads(),
                        Series.of(point).label(),
                        Format.rate(point.throughput())));
  }

  private List<String> limits() {
    List<String> limits = new ArrayList<>();
    if (results.server().router().isStandIn()) {
      limits.add(
          "The routers are OneHop's stand-in, not mongos: no mongos binary was found. It serves one"
              + " request at a time per connection as mongos does, but says nothing of a mongos'"
              + " own speed.");
      RouterCost cost = results.server().router().cost();
      if (cost != null) {
        limits.add(cost.sentence());
      }
    }
    String processors = results.run() == null ? null : results.run().processors();
    MachineFacts machine = results.machine();
    if (processors != null) {
      limits.add("Processors: " + processors + ".");
    } else if (machine != null) {
      limits.add("The client had %d processors.".formatted(machine.cores()));
    }
    limits.add(rounds());
    if (results.points().stream().anyMatch(point -> point.mode().startsWith("straight-"))) {
      limits.add("straight-..: " + Format.STRAIGHT + ".");
    }
    return limits;
  }

  private String rounds() {
    int rounds = results.points().stream().mapToInt(point -> point.rounds().size()).max().orElse(1);
    return rounds == 1
        ? "Everything was measured once (n = 1): on a machine that others use, too, differences of"
            + " some 10 % show nothing."
        : "Points were measured %d times (n = %d); the table shows the median."
            .formatted(rounds, rounds);
  }

  private static void list(StringBuilder html, String title, List<String> sentences) {
    if (sentences.isEmpty()) {
      return;
    }
    html.append("<p><b>").append(title).append("</b></p>\n<ul>\n");
    for (String sentence : sentences) {
      html.append("<li>").append(Html.escape(sentence)).append("</li>\n");
    }
    html.append("</ul>\n");
  }

  /** The few numbers that say what the points found. */
  private void figures(StringBuilder html) {
    if (comparison.isEmpty()) {
      return;
    }
    Comparison found = comparison.get();
    Point routed = found.routed();
    Point official = found.official();
    html.append("<ul class=\"figures\">\n");
    figure(
        html,
        String.format(Locale.ROOT, "%.2f×", found.ratio()),
        "the throughput of the best official client",
        "%s and %s ops/s, %s and %s"
            .formatted(
                Format.rate(routed.throughput()),
                Format.rate(official.throughput()),
                Series.of(routed).label(),
                Series.of(official).label()));
    Double mean = routed.meanLatency();
    Double officialMean = official.meanLatency();
    if (mean != null && officialMean != null) {
      Double roundTrip = routed.meanRoundTripMillis();
      figure(
          html,
          Format.millis(mean) + " ms",
          "mean latency",
          Format.millis(officialMean)
              + " ms by "
              + official.mode()
              + (roundTrip == null ? "" : "; round trip " + Format.ofMillis(roundTrip) + " ms"));
    }
    Double ofLimit = ResultsTable.ofLimit(routed);
    if (ofLimit != null) {
      figure(
          html,
          Format.percent(ofLimit) + " %",
          "of what a closed loop can do",
          Format.percent(ResultsTable.ofLimit(official)) + " % by " + official.mode());
    }
    if (routed.besideOwner() != null) {
      figure(
          html,
          Format.percent(routed.besideOwner()) + " %",
          "went over a router beside the owning shard",
          Format.percent(official.besideOwner()) + " % by " + official.mode());
    }
    html.append("</ul>\n");
  }

  private static void figure(StringBuilder html, String value, String what, String beside) {
    html.append("<li><b>").append(Html.escape(value)).append("</b> ");
    html.append(Html.escape(what)).append("<small>");
    html.append(Html.escape(beside)).append("</small></li>\n");
  }
}
