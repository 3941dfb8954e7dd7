package dev.onehop.cli.report;

import dev.onehop.cli.results.Point;
import dev.onehop.cli.results.Results;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** What a run says in one or two sentences. */
final class Headline {

  private Headline() {}

  /** At most threads and the smallest pool, targeting against the better of its peers. */
  static String of(Results results) {
    if (!results.scenarios().isEmpty()) {
      return ScenarioSection.sentence(results.scenarios().get(0));
    }
    List<Point> points = results.points();
    if (points.isEmpty()) {
      return "No point was finished.";
    }
    int connections = points.stream().mapToInt(Point::connections).min().orElse(0);
    List<Point> peers = points.stream().filter(p -> p.connections() == connections).toList();
    int threads = peers.stream().mapToInt(Point::threads).max().orElse(0);
    List<Point> there = peers.stream().filter(p -> p.threads() == threads).toList();
    Point best = there.stream().max(Comparator.comparingDouble(Point::throughput)).orElseThrow();
    String at = "At " + threads + " threads and " + connections + " connections, ";
    Optional<Point> targeted =
        there.stream().filter(p -> p.mode().equals("targeted-async")).findFirst();
    Optional<Point> peer =
        there.stream()
            .filter(p -> p.mode().equals("legacy") || p.mode().equals("async"))
            .max(Comparator.comparingDouble(Point::throughput));
    if (targeted.isEmpty() || peer.isEmpty() || peer.get().throughput() <= 0) {
      return at
          + best.mode()
          + " did "
          + Format.rate(best.throughput())
          + " operations per second.";
    }
    String text =
        String.format(
            Locale.ROOT,
            "%stargeted-async did %s operations per second, %.2f times the %s of %s",
            at,
            Format.rate(targeted.get().throughput()),
            targeted.get().throughput() / peer.get().throughput(),
            Format.rate(peer.get().throughput()),
            peer.get().mode());
    return text
        + there.stream()
            .filter(p -> p.mode().equals("targeted-async") && p.pipelining())
            .findFirst()
            .filter(p -> !p.equals(targeted.get()))
            .map(p -> pipelined(p, peer.get()))
            .orElse("")
        + ".";
  }

  private static String pipelined(Point point, Point peer) {
    return String.format(
        Locale.ROOT,
        "; pipelined, %s, %.2f times",
        Format.rate(point.throughput()),
        point.throughput() / peer.throughput());
  }
}
