package dev.onehop.measure.report;

import dev.onehop.measure.results.ConsumePoint;
import dev.onehop.measure.results.ConsumeResults;
import dev.onehop.measure.results.LatencySummary;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/**
 * A run of {@code onehop consume} as text tables, for a terminal, and their rows for the report.
 */
public final class ConsumeTable {

  /** What Alibaba's paper on Tablestore's Tunnel Service gives for rows of the same kind. */
  private static final double PAPER = 98_000;

  private static final List<String> FIRST =
      List.of(
          "source",
          "order",
          "channels",
          "procs",
          "rows/s",
          "ms/1000",
          "cores",
          "rows/s/core",
          "router cores",
          "mongod cores",
          "MiB",
          "Mbit/s");

  private static final List<String> OF_LAGS =
      List.of("written/s", "lag p50", "p90", "p99", "p99.9", "max", "since issued p50", "p99");

  private static final List<String> LAST = List.of("lost", "doubled", "out of order");

  private static final String NOTES =
      """
      rows/s: live, of the measured time; of a drain, from opening the stream to the last row, all checked.
      cores, MiB, Mbit/s: processors and memory (RSS) of the consumers' processes alone, and the events' own bytes.
      lag: ms from the commit (the event's wallTime, whole milliseconds, so up to 1 ms too much) to when the consumer has
      the row; since issued: from when the writer issued the bulk write, which takes time itself. One machine, one clock.
      lost, doubled, out of order: of all rows of the point, those before and after the measured time included.
      """;

  private ConsumeTable() {}

  /** The tables with title and notes, lines ending in newlines. */
  public static String render(ConsumeResults results) {
    StringBuilder text =
        new StringBuilder("Topology ")
            .append(results.topology().name())
            .append(", mongod ")
            .append(results.server().mongod())
            .append(", ")
            .append(ResultsTable.routerText(results.surroundings()))
            .append('\n');
    tables(results)
        .forEach(
            (title, rows) -> {
              int[] widths = ResultsTable.widths(rows);
              text.append('\n').append(title).append('\n');
              rows.forEach(row -> text.append(ResultsTable.line(row, widths)).append('\n'));
            });
    text.append('\n').append(NOTES);
    sentences(results).forEach(sentence -> text.append(sentence).append('\n'));
    if (results.server().router().isStandIn()) {
      text.append(
          "The routers are OneHop's stand-in, not mongos: its change streams say little of a"
              + " mongos' own speed and lag.\n");
    }
    return text.toString();
  }

  /** What the tables are read for. */
  static String notes() {
    return NOTES.strip();
  }

  /** The tables by their titles, each with a header. */
  static Map<String, List<List<String>>> tables(ConsumeResults results) {
    Map<String, List<List<String>>> tables = new LinkedHashMap<>();
    titles()
        .forEach(
            (kind, title) -> {
              List<ConsumePoint> points = results.points(kind);
              if (!points.isEmpty()) {
                tables.put(title, rows(points, !kind.equals(ConsumePoint.DRAIN)));
              }
            });
    return tables;
  }

  /** The kinds of points with what they are called. */
  static Map<String, String> titles() {
    Map<String, String> titles = new LinkedHashMap<>();
    titles.put(ConsumePoint.DRAIN, "Drain: a finished backlog is read");
    titles.put(ConsumePoint.LIVE, "Live: read while rows are written");
    titles.put(ConsumePoint.IDLE, "Idle shard: live, one shard has no rows");
    return titles;
  }

  private static List<List<String>> rows(List<ConsumePoint> points, boolean lags) {
    List<List<String>> rows = new ArrayList<>();
    List<String> header = new ArrayList<>(FIRST);
    if (lags) {
      header.addAll(OF_LAGS);
    }
    header.addAll(LAST);
    rows.add(header);
    for (ConsumePoint point : points) {
      List<String> row = new ArrayList<>();
      row.add(point.source());
      row.add(point.order());
      row.add(String.valueOf(point.channels()));
      row.add(String.valueOf(point.processes()));
      row.add(Format.rate(point.rowsPerSecond()));
      row.add(Format.ofMillis(point.millisPer1000()));
      row.add(cores(point.cores()));
      row.add(Format.rate(point.rowsPerSecondAndCore()));
      row.add(cores(point.routerCores()));
      row.add(cores(point.mongodCores()));
      row.add(Format.count(Math.round(point.memoryBytes() / 1048576.0)));
      row.add(Format.decimal(point.mbitPerSecond()));
      if (lags) {
        row.add(Format.rate(point.writtenPerSecond()));
        row.add(millis(point.lag(), LatencySummary::p50));
        row.add(millis(point.lag(), LatencySummary::p90));
        row.add(millis(point.lag(), LatencySummary::p99));
        row.add(millis(point.lag(), LatencySummary::p999));
        row.add(millis(point.lag(), LatencySummary::max));
        row.add(millis(point.sinceIssued(), LatencySummary::p50));
        row.add(millis(point.sinceIssued(), LatencySummary::p99));
      }
      row.add(Format.count(point.lost()));
      row.add(Format.count(point.doubled()));
      row.add(Format.count(point.outOfOrder()));
      rows.add(row);
    }
    return rows;
  }

  private static String cores(@Nullable Double cores) {
    return cores == null ? Format.NONE : String.format(Locale.ROOT, "%.2f", cores);
  }

  private static String millis(
      @Nullable LatencySummary lag, ToLongFunction<LatencySummary> figure) {
    return lag == null ? Format.NONE : Format.millis(figure.applyAsLong(lag));
  }

  /** What the run shows, a sentence each. */
  static List<String> sentences(ConsumeResults results) {
    List<String> sentences = new ArrayList<>();
    Optional<ConsumePoint> direct = fastest(results.points(ConsumePoint.DRAIN), SourceLook.DIRECT);
    Optional<ConsumePoint> mongos = fastest(results.points(ConsumePoint.DRAIN), SourceLook.MONGOS);
    direct
        .or(() -> mongos)
        .ifPresent(
            best -> {
              String ratio =
                  direct.isPresent() && mongos.isPresent()
                      ? "; %s through a mongos (a factor of %.1f)"
                          .formatted(
                              Format.rate(mongos.get().rowsPerSecond()),
                              best.rowsPerSecond() / Math.max(1, mongos.get().rowsPerSecond()))
                      : "";
              sentences.add(
                  "A backlog is read at %s rows a second from %s%s."
                      .formatted(
                          Format.rate(best.rowsPerSecond()),
                          direct.isPresent() ? "each shard" : "a mongos",
                          ratio));
              Double perCore = best.rowsPerSecondAndCore();
              if (perCore != null) {
                sentences.add(
                    "That is %s rows per second and core of the consumer; Tablestore's Tunnel Service is given with %s."
                        .formatted(Format.rate(perCore), Format.rate(PAPER)));
              }
            });
    for (ConsumePoint point : results.points(ConsumePoint.IDLE)) {
      LatencySummary lag = point.lag() == null ? point.sinceIssued() : point.lag();
      if (lag != null) {
        sentences.add(
            "With a shard that has no rows, all events in one order lag by %s ms (p50) and %s ms (p99) %s."
                .formatted(
                    Format.millis(lag.p50()),
                    Format.millis(lag.p99()),
                    SourceLook.DIRECT.is(point.source()) ? "from each shard" : "through a mongos"));
      }
    }
    return sentences;
  }

  private static Optional<ConsumePoint> fastest(List<ConsumePoint> points, SourceLook source) {
    ConsumePoint best = null;
    for (ConsumePoint point : points) {
      if (source.is(point.source())
          && (best == null || point.rowsPerSecond() > best.rowsPerSecond())) {
        best = point;
      }
    }
    return Optional.ofNullable(best);
  }
}
