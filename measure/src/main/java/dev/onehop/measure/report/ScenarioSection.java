package dev.onehop.measure.report;

import dev.onehop.measure.report.LineChart.Spot;
import dev.onehop.measure.results.MachineFacts;
import dev.onehop.measure.results.ScenarioEntry;
import dev.onehop.measure.results.Timeline;
import dev.onehop.measure.results.Timeline.Group;
import dev.onehop.measure.results.Timeline.Line;
import dev.onehop.measure.results.Timeline.Second;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The section about the effect of a fault on operations at a fixed rate. It has a sentence, charts
 * over time, and figures.
 *
 * @param scenario one of the results' timelines
 * @param entries the figures of this scenario
 * @param machine the machine of the run; null if unknown
 */
record ScenarioSection(
    Timeline scenario, List<ScenarioEntry> entries, @Nullable MachineFacts machine) {

  void addTo(Sheet sheet) {
    Optional<Line> official = best(line -> line.client().isOfficial());
    Optional<Line> routed = best(line -> !line.client().isOfficial());
    List<Line> best = Stream.of(official, routed).flatMap(Optional::stream).toList();
    boolean saturated = best.stream().map(this::load).anyMatch(Load::isSaturated);
    sheet.say(
        best.isEmpty()
            ? "No client was finished."
            : Load.qualified(
                "While %s, the p99 latency of operations%s was %s."
                    .formatted(
                        scenario.fault(),
                        scenario.shard() == null ? "" : " on the other shards",
                        best.stream().map(this::part).collect(Collectors.joining("; "))),
                best.stream().map(this::load)));
    if (official.isPresent() && routed.isPresent()) {
      double theirs = p99(official.get());
      double ours = p99(routed.get());
      sheet.say(
          saturated
              ? ""
              : "With the best routed client, this latency was %s with the best official client."
                  .formatted(Verdict.shorter(ours, theirs)));
      sheet.figure(
          Format.millis(ours) + " ms",
          "p99 of operations "
              + (scenario.shard() == null ? "meanwhile" : "on healthy shards")
              + (saturated ? ", machine saturated" : ""),
          Format.millis(theirs) + " ms by " + official.get().client().label());
    }
    String others = scenario.shard() == null ? "All operations" : "Operations on the other shards";
    Section section =
        new Section(scenario.scenario(), "Scenario " + scenario.scenario())
            .say(conditions())
            .chart(
                chart(
                    others + ": p99 latency by the second in which operations were issued",
                    "ms (p99)",
                    true,
                    Line::healthy,
                    second -> second.p99() == null ? null : second.p99() / 1000.0))
            .chart(answered(others, Line::healthy))
            .table(table(others, scenario.healthyShards(), Line::healthy));
    if (scenario.shard() != null) {
      String there = "Operations on " + scenario.shard();
      section
          .chart(answered(there, Line::affected))
          .table(table(there, "affected", Line::affected));
    }
    sheet.add(section);
  }

  /** Returns the figures of a client's phase; null if they are missing. */
  private @Nullable ScenarioEntry entry(Line line, String phase, String shards) {
    return entries.stream()
        .filter(each -> each.client().equals(line.client()))
        .filter(each -> each.phase().equals(phase) && each.shards().equals(shards))
        .findFirst()
        .orElse(null);
  }

  private Optional<Line> best(Predicate<Line> which) {
    return scenario.lines().stream()
        .filter(which)
        .filter(line -> entry(line, "during", scenario.healthyShards()) != null)
        .min(Comparator.comparingDouble(this::p99));
  }

  private double p99(Line line) {
    return Objects.requireNonNull(entry(line, "during", scenario.healthyShards()))
        .figures()
        .latency()
        .p99();
  }

  private String part(Line line) {
    ScenarioEntry before = entry(line, "before", scenario.healthyShards());
    ScenarioEntry during = entry(line, "during", scenario.healthyShards());
    return "%s ms with %s (%s before), at %s operations a second (%s before)"
        .formatted(
            Format.millis(p99(during)),
            line.client().name(),
            Format.millis(p99(before)),
            Format.rate(perSecond(during)),
            Format.rate(perSecond(before)));
  }

  private static @Nullable Number p50(@Nullable ScenarioEntry entry) {
    return entry == null ? null : (Number) entry.figures().latency().p50();
  }

  private static @Nullable Number p99(@Nullable ScenarioEntry entry) {
    return entry == null ? null : (Number) entry.figures().latency().p99();
  }

  private static @Nullable Number perSecond(@Nullable ScenarioEntry entry) {
    return entry == null ? null : (Number) entry.figures().perSecond();
  }

  private String conditions() {
    return ("%s operations a second at %s intervals; an operation does not wait for earlier"
            + " replies. From second %d to second %d, %s.")
        .formatted(
            Format.rate(scenario.rate()),
            scenario.arrivals().equals("poisson") ? "random" : "even",
            scenario.from(),
            scenario.to(),
            scenario.fault());
  }

  /** Returns the load of the machine before the fault. */
  private Load load(Line line) {
    ScenarioEntry before = entry(line, "before", scenario.healthyShards());
    return before == null ? new Load(0) : Load.of(before, machine);
  }

  private Columns<Line> table(
      String caption, String shards, Function<Line, @Nullable Group> group) {
    List<Line> lines = scenario.lines().stream().filter(line -> group.apply(line) != null).toList();
    return new Columns<>(caption, lines)
        .text("client", line -> line.client().name() + load(line).mark())
        .of("conns", Format::whole, line -> line.client().connections())
        .of("p50 before", Format::millis, line -> p50(entry(line, "before", shards)))
        .means("ms from the time at which the operation was due")
        .of("during", Format::millis, line -> p50(entry(line, "during", shards)))
        .of("p99 before", Format::millis, line -> p99(entry(line, "before", shards)))
        .of("during", Format::millis, line -> p99(entry(line, "during", shards)))
        .of("after", Format::millis, line -> p99(entry(line, "after", shards)))
        .of("done/s before", Format::rate, line -> perSecond(entry(line, "before", shards)))
        .of("during", Format::rate, line -> perSecond(entry(line, "during", shards)))
        .of("after", Format::rate, line -> perSecond(entry(line, "after", shards)))
        .text("well after", line -> recovery(group.apply(line)))
        .means(
            "time from the end of the fault until no operation takes more than twice the p99 that"
                + " was measured before the fault")
        .of("failed", Format::whole, line -> failed(line, shards))
        .means("operations with an error, not issued, or without a reply at the end of the run");
  }

  private long failed(Line line, String shards) {
    return Stream.of("before", "during", "after")
        .map(phase -> entry(line, phase, shards))
        .filter(Objects::nonNull)
        .mapToLong(each -> each.figures().errors())
        .sum();
  }

  private static String recovery(@Nullable Group group) {
    return group == null || group.recoverySeconds() == null
        ? "not seen"
        : group.recoverySeconds() + " s";
  }

  private LineChart answered(String which, Function<Line, @Nullable Group> group) {
    return chart(
        which + ": replies by second",
        "operations per second",
        false,
        group,
        second -> (double) second.answered());
  }

  private LineChart chart(
      String caption,
      String unit,
      boolean logarithmic,
      Function<Line, @Nullable Group> group,
      Function<Second, @Nullable Double> value) {
    LineChart chart = new LineChart(caption, Axis.seconds(scenario.seconds()), unit, logarithmic);
    chart.band(scenario.from(), scenario.to(), scenario.scenario());
    for (Line line : scenario.lines()) {
      Group its = group.apply(line);
      List<Spot> spots = new ArrayList<>();
      for (int i = 0; its != null && i < its.series().size(); i++) {
        Double at = value.apply(its.series().get(i));
        if (at != null) {
          spots.add(new Spot(i + 0.5, at));
        }
      }
      chart.curve(LineStyle.of(line.client(), line.client().connections()), spots);
    }
    return chart;
  }
}
