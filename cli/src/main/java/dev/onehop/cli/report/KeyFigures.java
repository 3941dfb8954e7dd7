package dev.onehop.cli.report;

import dev.onehop.cli.results.Point;
import dev.onehop.cli.results.Results;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The few numbers that say what a run found, at most threads and the smallest pool: the best of
 * routed modes beside the better of the official clients.
 *
 * @param figures none if either was not run
 */
record KeyFigures(List<Figure> figures) {

  /** A number and what it is. */
  private record Figure(String value, String what, String beside) {}

  static KeyFigures of(Results results) {
    int connections = results.points().stream().mapToInt(Point::connections).min().orElse(0);
    int threads = results.points().stream().mapToInt(Point::threads).max().orElse(0);
    List<Point> there =
        results.points().stream()
            .filter(p -> p.connections() == connections && p.threads() == threads)
            .toList();
    Optional<Point> routed = best(there.stream().filter(p -> !isOfficial(p)).toList());
    Optional<Point> official = best(there.stream().filter(KeyFigures::isOfficial).toList());
    if (routed.isEmpty() || official.isEmpty() || official.get().throughput() <= 0) {
      return new KeyFigures(List.of());
    }
    return new KeyFigures(figures(routed.get(), official.get()));
  }

  private static List<Figure> figures(Point routed, Point official) {
    List<Figure> figures = new ArrayList<>();
    figures.add(
        new Figure(
            String.format(Locale.ROOT, "%.1f×", routed.throughput() / official.throughput()),
            "throughput of " + routed.mode() + (routed.pipelining() ? ", pipelined" : ""),
            "%s ops/s, %s by %s"
                .formatted(
                    Format.rate(routed.throughput()),
                    Format.rate(official.throughput()),
                    official.mode() + (official.pipelining() ? ", pipelined" : ""))));
    Double mean = routed.meanLatency();
    Double officialMean = official.meanLatency();
    if (mean != null && officialMean != null) {
      figures.add(
          new Figure(
              Format.millis(mean) + " ms",
              "mean latency",
              Format.millis(officialMean)
                  + " ms by "
                  + official.mode()
                  + roundTrip(routed.meanRoundTripMillis())));
    }
    Double ofLimit = ResultsTable.ofLimit(routed);
    if (ofLimit != null) {
      figures.add(
          new Figure(
              Format.percent(ofLimit) + " %",
              "of what a closed loop can do",
              Format.percent(ResultsTable.ofLimit(official)) + " % by " + official.mode()));
    }
    if (routed.besideOwner() != null) {
      figures.add(
          new Figure(
              Format.percent(routed.besideOwner()) + " %",
              "went over a router beside the owning shard",
              Format.percent(official.besideOwner()) + " % by " + official.mode()));
    }
    return figures;
  }

  private static String roundTrip(@Nullable Double millis) {
    return millis == null ? "" : "; round trip " + Format.ofMillis(millis) + " ms";
  }

  private static Optional<Point> best(List<Point> points) {
    return points.stream().max(Comparator.comparingDouble(Point::throughput));
  }

  private static boolean isOfficial(Point point) {
    return point.mode().equals("legacy") || point.mode().equals("async");
  }

  void appendTo(StringBuilder html) {
    if (figures.isEmpty()) {
      return;
    }
    html.append("<ul class=\"figures\">\n");
    for (Figure figure : figures) {
      html.append("<li><b>").append(Html.escape(figure.value())).append("</b> ");
      html.append(Html.escape(figure.what())).append("<small>");
      html.append(Html.escape(figure.beside())).append("</small></li>\n");
    }
    html.append("</ul>\n");
  }
}
