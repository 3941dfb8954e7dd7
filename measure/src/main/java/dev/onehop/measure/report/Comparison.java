package dev.onehop.measure.report;

import dev.onehop.measure.results.Point;
import dev.onehop.measure.results.Results;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The best routed client beside the best official one, each with the pool it did most with, at the
 * highest number of threads.
 *
 * @param routed the routed point of most throughput
 * @param official the official client's
 * @param capped the best of the official clients with the smallest pool; null if that is {@code
 *     official}
 */
record Comparison(Point routed, Point official, @Nullable Point capped) {

  /** Empty if either was not measured. */
  static Optional<Comparison> of(Results results) {
    int threads = results.points().stream().mapToInt(Point::threads).max().orElse(0);
    int smallest = results.points().stream().mapToInt(Point::connections).min().orElse(0);
    List<Point> there = results.points().stream().filter(p -> p.threads() == threads).toList();
    Optional<Point> routed = best(there, p -> p.client().isRouted());
    Optional<Point> official = best(there, p -> p.client().isOfficial() && p.throughput() > 0);
    if (routed.isEmpty() || official.isEmpty()) {
      return Optional.empty();
    }
    Point capped =
        best(there, p -> p.client().isOfficial() && p.connections() == smallest)
            .filter(p -> p.connections() < official.get().connections())
            .orElse(null);
    return Optional.of(new Comparison(routed.get(), official.get(), capped));
  }

  private static Optional<Point> best(List<Point> points, Predicate<Point> which) {
    return points.stream().filter(which).max(Comparator.comparingDouble(Point::throughput));
  }

  /** Throughput of the routed client, in that of the official one. */
  double ratio() {
    return routed.throughput() / official.throughput();
  }

  /** What it says, the capped official client last. */
  String sentence() {
    String text =
        String.format(
            Locale.ROOT,
            "At %d threads, %s did %s operations per second, %.2f times the %s of %s, the best of the"
                + " official clients",
            routed.threads(),
            label(routed),
            Format.rate(routed.throughput()),
            ratio(),
            Format.rate(official.throughput()),
            label(official));
    return capped == null
        ? text + "."
        : "%s; with %d connections these did %s at most."
            .formatted(text, capped.connections(), Format.rate(capped.throughput()));
  }

  private static String label(Point point) {
    return Series.of(point).label();
  }
}
