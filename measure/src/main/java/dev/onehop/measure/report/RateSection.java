package dev.onehop.measure.report;

import dev.onehop.measure.report.LineChart.Spot;
import dev.onehop.measure.results.Client;
import dev.onehop.measure.results.Results;
import dev.onehop.measure.results.ScenarioEntry;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.stream.Stream;

/** The section about operations at fixed rates. */
final class RateSection {
  private final Results results;
  private final List<ScenarioEntry> entries;

  RateSection(Results results) {
    this.results = results;
    this.entries =
        results.entries(ScenarioEntry.RATE).stream()
            .sorted(
                Comparator.comparingDouble(ScenarioEntry::rate)
                    .thenComparing(ScenarioEntry::client, Client.ORDER))
            .toList();
  }

  void addTo(Sheet sheet) {
    if (entries.isEmpty()) {
      return;
    }
    double highest = entries.get(entries.size() - 1).rate();
    Optional<ScenarioEntry> routed = best(highest, each -> each.client().isRouted());
    Optional<ScenarioEntry> official = best(highest, each -> each.client().isOfficial());
    if (routed.isPresent() && official.isPresent()) {
      double ours = routed.get().figures().latency().p99();
      double theirs = official.get().figures().latency().p99();
      List<Load> loads = Stream.of(routed, official).map(each -> load(each.get())).toList();
      sheet.say(
          Load.qualified(
              ("At %s operations a second, the 99th percentile of the latency is %s with %s: %s the"
                      + " %s of %s, the best official client.")
                  .formatted(
                      Format.rate(highest),
                      p99(routed.get()),
                      routed.get().client().label(),
                      loads.stream().anyMatch(Load::isSaturated)
                          ? "compared with"
                          : Verdict.shorter(ours, theirs),
                      p99(official.get()),
                      official.get().client().label()),
              loads.stream()));
      sheet.figure(
          p99(routed.get()),
          "p99 at " + Format.rate(highest) + " operations a second",
          p99(official.get()) + " by " + official.get().client().label());
    } else if (routed.isPresent() || official.isPresent()) {
      ScenarioEntry only = routed.or(() -> official).get();
      sheet.say(
          Load.qualified(
              "At %s operations a second, the 99th percentile of the latency is %s with %s."
                  .formatted(Format.rate(highest), p99(only), only.client().label()),
              Stream.of(load(only))));
    }
    sheet.add(section());
  }

  private Optional<ScenarioEntry> best(double rate, Predicate<ScenarioEntry> which) {
    return entries.stream()
        .filter(each -> each.rate() == rate)
        .filter(which)
        .min(Comparator.comparingLong(each -> each.figures().latency().p99()));
  }

  private static String p99(ScenarioEntry entry) {
    return (entry.isLowerBound() ? "at least " : "")
        + Format.millis(entry.figures().latency().p99())
        + " ms";
  }

  private Section section() {
    return new Section("rates", "Fixed rates")
        .say(
            "Operations are issued at their intended times, even if earlier operations have no"
                + " reply yet.")
        .alike(List.of(chart("p50"), chart("p99")))
        .table(
            new Columns<>("Operations at fixed rates; latencies in ms", entries)
                .of("rate/s", Format::rate, ScenarioEntry::rate)
                .text("client", this::marked)
                .of("conns", Format::whole, each -> each.client().connections())
                .of("done/s", Format::rate, each -> each.figures().perSecond())
                .text("p50", each -> latency(each, "p50"))
                .means(
                    "from the time at which an operation was due. The mark >= means at least: at the"
                        + " end of the run, some operations had no reply. They count with the time"
                        + " that they had waited until then")
                .text("p90", each -> latency(each, "p90"))
                .text("p99", each -> latency(each, "p99"))
                .text("p99.9", each -> latency(each, "p99.9"))
                .latencies("service", each -> each.figures().service(), "p50", "p99")
                .means("from the issue of the operation")
                .of("failed", Format::whole, each -> each.figures().failed())
                .of("not issued", Format::whole, each -> each.figures().notIssued())
                .of("not answered", Format::whole, each -> each.figures().unanswered())
                .of(
                    "cpu us/op",
                    Format::whole,
                    each -> each.cpu() == null ? null : each.cpu().total())
                .of(
                    "sockets",
                    Format::whole,
                    each -> each.conditions() == null ? null : each.conditions().sockets()));
  }

  private String marked(ScenarioEntry entry) {
    boolean disturbed = entry.conditions() != null && entry.conditions().isDisturbed();
    return entry.client().name() + (disturbed ? " *" : "") + load(entry).mark();
  }

  private Load load(ScenarioEntry entry) {
    return Load.of(entry, results.machine());
  }

  private static String latency(ScenarioEntry entry, String figure) {
    return (entry.isLowerBound() ? ">=" : "")
        + Format.millis(entry.figures().latency().figure(figure));
  }

  private LineChart chart(String figure) {
    int usual = entries.stream().mapToInt(each -> each.client().connections()).min().orElse(0);
    LineChart chart =
        new LineChart(
            "Latency by rate, " + figure + " from the intended time, in milliseconds",
            Axis.fromZero(
                "operations per second",
                entries.stream().mapToDouble(ScenarioEntry::rate).max().orElse(1)),
            "ms (" + figure + ")",
            true);
    return chart.lines(
        entries,
        each -> LineStyle.of(each.client(), usual),
        each -> new Spot(each.rate(), each.figures().latency().figure(figure) / 1000));
  }
}
