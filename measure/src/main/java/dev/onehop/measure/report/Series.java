package dev.onehop.measure.report;

import dev.onehop.measure.results.Client;
import dev.onehop.measure.results.Point;
import dev.onehop.measure.results.Results;
import java.util.Comparator;
import java.util.List;

/**
 * A line that charts show: a mode with a pool size, the same look in every chart.
 *
 * @param mode the mode
 * @param connections pool size
 * @param pipelining whether requests are pipelined
 * @param alternative whether it repeats a mode under other conditions, and is drawn dashed
 */
record Series(String mode, int connections, boolean pipelining, boolean alternative)
    implements Look {

  /** The results' series: each mode with the pool size that most have, then the others. */
  static List<Series> of(Results results) {
    int common = results.points().stream().mapToInt(Point::connections).min().orElse(0);
    return results.points().stream()
        .map(p -> new Series(p.mode(), p.connections(), p.pipelining(), p.connections() != common))
        .distinct()
        .sorted(
            Comparator.comparing(Series::alternative)
                .thenComparing(Series::mode, ResultsTable.MODES)
                .thenComparing(Series::pipelining)
                .thenComparing(Series::connections))
        .toList();
  }

  /** The line of a client in charts where all stand for themselves. */
  static Series of(Client client) {
    return new Series(client.mode(), client.connections(), client.pipelining(), false);
  }

  /** The line that a point belongs to, by itself. */
  static Series of(Point point) {
    return new Series(point.mode(), point.connections(), point.pipelining(), false);
  }

  /** Whether a point belongs to this line. */
  boolean has(Point point) {
    return point.mode().equals(mode)
        && point.connections() == connections
        && point.pipelining() == pipelining;
  }

  /** Its points by threads. */
  List<Point> points(Results results) {
    return results.points().stream()
        .filter(this::has)
        .sorted(Comparator.comparingInt(Point::threads))
        .toList();
  }

  @Override
  public String label() {
    return mode
        + (pipelining ? ", pipelined" : "")
        + ", "
        + connections
        + (connections == 1 ? " connection" : " connections");
  }

  /** As short as it can be told from the others of a chart, most of which have a pool size. */
  String name(int usualConnections) {
    return mode
        + (pipelining ? ", pipelined" : "")
        + (connections == usualConnections ? "" : ", " + connections + " connections");
  }

  /** Colour by mode, dashes for an alternative. */
  @Override
  public String cssClass() {
    String known =
        List.of("legacy", "async", "targeted-async", "direct-async").contains(mode)
            ? mode
            : "other";
    return "m-" + known + (alternative ? " alt" : "") + (pipelining ? " piped" : "");
  }

  @Override
  public String marker() {
    return switch (mode) {
      case "legacy" -> "M-4-4h8v8h-8z";
      case "async" -> "M0-5L5 4H-5z";
      case "targeted-async" -> "M-4.5 0a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0-9 0z";
      default -> "M0-5.5L5.5 0L0 5.5L-5.5 0z";
    };
  }
}
