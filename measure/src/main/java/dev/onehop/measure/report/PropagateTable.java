package dev.onehop.measure.report;

import dev.onehop.measure.results.LatencySummary;
import dev.onehop.measure.results.PropagateMeasurement;
import dev.onehop.measure.results.PropagateResults;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A run of {@code onehop propagate} as text tables, for a terminal, and their rows for the report.
 */
public final class PropagateTable {

  private static final String NOTES =
      """
      Times are in ms. All streams are open in every test, and see the same writes.
      mongos: the official driver's change stream through a mongos.
      shards: OneHop's stream of each shard, events as they come; ordered: the same, put in order.
      seen: each object, from when its write was meant to begin until its event has come; from begin: from when it began.
      test: from a test's begin until its signals have come, one from each shard, which are written last.
      live: from subscribing until all documents were read and handed over, and what was written after that has come.
      majority: another program finds the object by a read with read concern majority; up to one read too long.
      """;

  private PropagateTable() {}

  /** The tables with title and notes, lines ending in newlines. */
  public static String render(PropagateResults results) {
    StringBuilder text =
        new StringBuilder("Topology ")
            .append(results.topology().name())
            .append(", mongod ")
            .append(results.server().mongod())
            .append(", ")
            .append(ResultsTable.routerText(results.surroundings()))
            .append('\n');
    conditions(results).forEach(line -> text.append(line).append('\n'));
    tables(results)
        .forEach(
            (title, rows) -> {
              int[] widths = ResultsTable.widths(rows);
              text.append('\n').append(title).append('\n');
              rows.forEach(row -> text.append(ResultsTable.line(row, widths)).append('\n'));
            });
    return text.append('\n').append(NOTES).toString();
  }

  /** What the tables are read for. */
  static String notes() {
    return NOTES.strip();
  }

  /** What decides about the times besides the paths, a line each. */
  static List<String> conditions(PropagateResults results) {
    List<String> lines = new ArrayList<>();
    PropagateResults.Streams streams = results.streams();
    String noops =
        streams.noopSeconds().entrySet().stream()
            .map(each -> each.getKey() + " " + Format.decimal(each.getValue()) + " s")
            .collect(Collectors.joining(", "));
    lines.add(
        "No-ops of idle servers: %s; await time %d ms; ordered: %s"
            .formatted(
                noops.isEmpty() ? "unknown" : noops,
                streams.awaitMillis(),
                streams.order().equals("total") ? "all events" : "the events of each document"));
    if (results.server().router().isStandIn()) {
      lines.add(
          streams.standInWaits()
              ? "The routers are OneHop's stand-in, not mongos; like a mongos' their change streams"
                  + " wait for every shard and the config servers."
              : "The routers are OneHop's stand-in, not mongos: their change streams say little of"
                  + " a mongos'.");
    }
    return lines;
  }

  /** The tables by their titles, each with a header: a column for each path. */
  static Map<String, List<List<String>>> tables(PropagateResults results) {
    Map<String, List<PropagateMeasurement>> groups = new LinkedHashMap<>();
    for (PropagateMeasurement each : results.measurements()) {
      groups.computeIfAbsent(title(each), title -> new ArrayList<>()).add(each);
    }
    Map<String, List<List<String>>> tables = new LinkedHashMap<>();
    groups.forEach((title, paths) -> tables.put(title, rows(paths)));
    return tables;
  }

  private static String title(PropagateMeasurement each) {
    StringBuilder title = new StringBuilder(each.name()).append(": ");
    title.append(Format.count(each.documents())).append(" objects of ").append(each.bytes());
    title.append(" bytes");
    if (isPropagation(each)) {
      title.append(", ").append(Format.count(each.batch())).append(" per write");
    }
    if (each.name().equals(PropagateMeasurement.LOAD)) {
      title.append(", ").append(each.clients()).append(" clients in ");
      title.append(each.processes()).append(each.processes() == 1 ? " process" : " processes");
    } else {
      title.append(", ").append(each.runs()).append(each.runs() == 1 ? " test" : " tests");
    }
    return title.toString();
  }

  /** Whether objects are timed by the write. */
  private static boolean isPropagation(PropagateMeasurement each) {
    return each.service() != null && !each.name().equals(PropagateMeasurement.LOAD);
  }

  private static List<List<String>> rows(List<PropagateMeasurement> paths) {
    List<List<String>> rows = new ArrayList<>();
    rows.add(row("", paths, PropagateMeasurement::path));
    boolean load = paths.get(0).name().equals(PropagateMeasurement.LOAD);
    boolean writes = paths.stream().anyMatch(each -> each.service() != null);
    add(rows, writes ? "seen" : "live", paths, PropagateMeasurement::latency, true);
    add(rows, "from begin", paths, PropagateMeasurement::service, false);
    add(rows, load ? "live" : "test", paths, PropagateMeasurement::test, false);
    add(rows, "read", paths, PropagateMeasurement::snapshot, false);
    rows.add(row("lost", paths, each -> Format.count(each.lost())));
    rows.add(row("doubled", paths, each -> Format.count(each.doubled())));
    return rows;
  }

  private static void add(
      List<List<String>> rows,
      String name,
      List<PropagateMeasurement> paths,
      Function<PropagateMeasurement, @Nullable LatencySummary> of,
      boolean all) {
    if (paths.stream().map(of).noneMatch(Objects::nonNull)) {
      return;
    }
    rows.add(row(name + " n", paths, of, times -> Format.count(times.count())));
    rows.add(row(name + " p50", paths, of, times -> Format.millis(times.p50())));
    if (all) {
      rows.add(row(name + " p90", paths, of, times -> Format.millis(times.p90())));
    }
    rows.add(row(name + " p99", paths, of, times -> Format.millis(times.p99())));
    if (all) {
      rows.add(row(name + " p99.9", paths, of, times -> Format.millis(times.p999())));
    }
    rows.add(row(name + " max", paths, of, times -> Format.millis(times.max())));
    rows.add(row(name + " mean", paths, of, times -> Format.millis(times.mean())));
  }

  private static List<String> row(
      String name,
      List<PropagateMeasurement> paths,
      Function<PropagateMeasurement, @Nullable LatencySummary> of,
      Function<LatencySummary, String> figure) {
    return row(
        name,
        paths,
        each -> {
          LatencySummary times = of.apply(each);
          return times == null || times.count() == 0 ? Format.NONE : figure.apply(times);
        });
  }

  private static List<String> row(
      String name, List<PropagateMeasurement> paths, Function<PropagateMeasurement, String> cell) {
    List<String> row = new ArrayList<>(List.of(name));
    Arrays.stream(PathLook.values())
        .forEach(look -> paths.stream().filter(look::is).map(cell).forEach(row::add));
    return row;
  }
}
