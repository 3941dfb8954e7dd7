package dev.onehop.measure.report;

import dev.onehop.measure.results.Client;
import dev.onehop.measure.results.Conditions;
import dev.onehop.measure.results.LatencySummary;
import dev.onehop.measure.results.Point;
import dev.onehop.measure.results.Results;
import dev.onehop.measure.results.RouterCost;
import dev.onehop.measure.results.TopologyFacts;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** The results as a text table, for a terminal. */
public final class ResultsTable {

  private static final List<String> FIRST =
      List.of("mode", "conns", "threads", "ops/s", "rounds", "+-%", "limit", "% of limit");

  private static final String ROUNDS = "rounds";
  private static final String ERROR = "+-%";

  /** After the name of a client that was measured while others took the processors. */
  private static final String DISTURBED = " *";

  private static final List<String> LATENCIES = List.of("mean", "p50", "p95", "p99");
  private static final List<String> LAST =
      List.of("errors", "share %", "beside owner %", "cpu us/op");

  private ResultsTable() {}

  /** The table with its title and notes, lines ending in newlines. */
  public static String render(Results results) {
    StringBuilder text = new StringBuilder(title(results)).append('\n');
    results
        .timelines()
        .forEach(each -> text.append('\n').append(new ScenarioSection(each, results).table()));
    results.zones().forEach(each -> text.append('\n').append(new ZonesSection(each).table()));
    results.fleets().forEach(each -> text.append('\n').append(new FleetSection(each).table()));
    RateSection rates = new RateSection(results);
    if (!rates.isEmpty()) {
      text.append('\n').append(rates.table()).append('\n').append(ratios(results));
    }
    if (!results.points().isEmpty()) {
      text.append(points(results));
    }
    return text.append(lastNotes(results)).toString();
  }

  private static String points(Results results) {
    List<String> operations = List.copyOf(results.operations());
    List<String> shards = results.shards();
    List<List<String>> rows = new ArrayList<>();
    List<String> first = first(results);
    rows.add(header(first, operations));
    for (Point point : inOrder(results.points())) {
      rows.add(row(point, first, operations, shards));
    }
    StringBuilder text = new StringBuilder();
    if (results.run() != null && results.run().experiment() != null) {
      text.append('\n').append(results.run().experiment()).append('\n');
    }
    text.append(groups(first.size(), operations, widths(rows))).append('\n');
    int[] widths = widths(rows);
    for (List<String> row : rows) {
      text.append(line(row, widths)).append('\n');
    }
    text.append('\n').append(ratios(results));
    return text.append(notes(results, shards)).toString();
  }

  /** Points by threads, then by pool size, then in the order of the modes' first appearance. */
  static List<Point> inOrder(List<Point> points) {
    List<String> modes = points.stream().map(Point::mode).distinct().sorted(MODES).toList();
    return points.stream()
        .sorted(
            Comparator.comparingInt(Point::threads)
                .thenComparingInt(Point::connections)
                .thenComparingInt(point -> modes.indexOf(point.mode())))
        .toList();
  }

  /** Known modes in their usual order, others after them by name. */
  static final Comparator<String> MODES =
      Comparator.<String>comparingInt(
              mode -> {
                int at =
                    List.of(
                            "legacy",
                            "async",
                            "targeted-async",
                            "targeted-sync",
                            "direct-async",
                            "direct-sync",
                            "near-mongos",
                            "local-threshold-0",
                            "pipelined-only")
                        .indexOf(mode);
                return at < 0 ? Integer.MAX_VALUE : at;
              })
          .thenComparing(Comparator.naturalOrder());

  private static String title(Results results) {
    return "Topology "
        + results.topology().name()
        + ", mongod "
        + results.server().mongod()
        + ", "
        + routerText(results);
  }

  /** What the routers are, in words. */
  static String routerText(Results results) {
    return results.server().router().isStandIn()
        ? "STAND-IN routers (no mongos binary; version " + results.server().router().version() + ")"
        : "mongos " + results.server().router().version();
  }

  /** The columns before the latencies; that of the rounds where there is more than one. */
  private static List<String> first(Results results) {
    return FIRST.stream()
        .filter(column -> !column.equals(ROUNDS) || hasRounds(results))
        .filter(column -> !column.equals(ERROR) || hasErrors(results))
        .toList();
  }

  /** Whether a point was measured more than once. */
  static boolean hasRounds(Results results) {
    return results.points().stream().anyMatch(point -> point.rounds().size() > 1);
  }

  private static boolean hasErrors(Results results) {
    return results.points().stream().anyMatch(point -> error(point) != null);
  }

  private static @Nullable Double error(Point point) {
    return point.conditions() == null ? null : point.conditions().error();
  }

  /** A client's name without its pool, marked if others took the processors meanwhile. */
  static String name(Client client, @Nullable Conditions conditions) {
    return client.mode()
        + (client.pipelining() ? " (pipelined)" : "")
        + (conditions != null && conditions.isDisturbed() ? DISTURBED : "");
  }

  private static String ratios(Results results) {
    List<List<String>> rows = RatioTable.rows(results);
    if (rows.isEmpty()) {
      return "";
    }
    StringBuilder text = new StringBuilder();
    int[] widths = widths(rows);
    rows.forEach(row -> text.append(line(row, widths)).append('\n'));
    return text.append(RatioTable.NOTE).append("\n\n").toString();
  }

  private static List<String> header(List<String> first, List<String> operations) {
    List<String> header = new ArrayList<>(first);
    operations.forEach(operation -> header.addAll(LATENCIES));
    header.addAll(LAST);
    return header;
  }

  private static List<String> row(
      Point point, List<String> first, List<String> operations, List<String> shards) {
    List<String> row = new ArrayList<>();
    row.add(name(point.client(), point.conditions()));
    row.add(String.valueOf(point.connections()));
    row.add(String.valueOf(point.threads()));
    row.add(Format.rate(point.throughput()));
    if (first.contains(ROUNDS)) {
      row.add(Format.range(point.rounds()));
    }
    if (first.contains(ERROR)) {
      Double error = error(point);
      row.add(error == null ? Format.NONE : String.format(Locale.ROOT, "%.1f", error * 100));
    }
    row.add(Format.rate(point.limit()));
    row.add(Format.percent(ofLimit(point)));
    for (String operation : operations) {
      LatencySummary latency = point.latencies().get(operation);
      row.add(latency == null ? Format.NONE : Format.millis(latency.mean()));
      row.add(latency == null ? Format.NONE : Format.millis(latency.p50()));
      row.add(latency == null ? Format.NONE : Format.millis(latency.p95()));
      row.add(latency == null ? Format.NONE : Format.millis(latency.p99()));
    }
    row.add(Format.count(point.errors()));
    row.add(
        point.share().isEmpty()
            ? Format.NONE
            : shards.stream()
                .map(shard -> Format.percent(point.share().getOrDefault(shard, 0.0)))
                .collect(Collectors.joining("/")));
    row.add(Format.percent(point.besideOwner()));
    row.add(Format.micros(point.cpu() == null ? null : point.cpu().total()));
    return row;
  }

  /** Throughput as a fraction of the closed-loop limit; null where there is no limit. */
  static @Nullable Double ofLimit(Point point) {
    Double limit = point.limit();
    return limit == null ? null : point.throughput() / limit;
  }

  static int[] widths(List<List<String>> rows) {
    int[] widths = new int[rows.get(0).size()];
    for (List<String> row : rows) {
      for (int i = 0; i < widths.length; i++) {
        widths[i] = Math.max(widths[i], row.get(i).length());
      }
    }
    return widths;
  }

  /** The line above the header that names the operation over its four latencies. */
  private static String groups(int first, List<String> operations, int[] widths) {
    StringBuilder line = new StringBuilder();
    int column = 0;
    for (; column < first; column++) {
      line.append(" ".repeat(widths[column] + 2));
    }
    for (String operation : operations) {
      int width = -2;
      for (int i = 0; i < LATENCIES.size(); i++) {
        width += widths[column++] + 2;
      }
      String label = operation.toLowerCase(Locale.ROOT) + " (ms) ";
      line.append(label).append("-".repeat(Math.max(0, width - label.length()))).append("  ");
    }
    return line.toString().stripTrailing();
  }

  static String line(List<String> row, int[] widths) {
    StringBuilder line = new StringBuilder();
    for (int i = 0; i < widths.length; i++) {
      String cell = row.get(i);
      String padding = " ".repeat(widths[i] - cell.length());
      line.append(i == 0 ? cell + padding : padding + cell).append("  ");
    }
    return line.toString().stripTrailing();
  }

  private static String notes(Results results, List<String> shards) {
    StringBuilder notes = new StringBuilder();
    notes.append("limit: threads / mean round trip of the operations that ran (closed loop)\n");
    if (hasRounds(results)) {
      notes.append("rounds: the slowest and the fastest; everything else is of the median one\n");
    }
    if (hasErrors(results)) {
      notes.append("+-%: half the 95 % interval of ops/s, by the means of windows of a second\n");
    }
    if (!shards.isEmpty()) {
      notes
          .append("share: operations served by ")
          .append(String.join(" / ", shards))
          .append(", by the servers' counters\n");
    }
    if (results.run() != null) {
      results
          .run()
          .missing()
          .forEach(what -> notes.append("not known: ").append(what).append('\n'));
    }
    notes.append("beside owner: operations that reached their shard from a router on its host\n");
    notes.append("cpu: processor time per operation of client, routers, mongods and links\n");
    notes.append(new ClientsSection(results).lines());
    if (results.points().stream().anyMatch(point -> point.mode().startsWith("straight-"))) {
      notes.append("straight-..: ").append(Format.STRAIGHT).append('\n');
    }
    return notes.toString();
  }

  private static String lastNotes(Results results) {
    StringBuilder notes = new StringBuilder();
    if (results.isDisturbed()) {
      notes.append("*: others on the host took more than 1 % of the processors' time (steal)\n");
    }
    TopologyFacts topology = results.topology();
    if (topology.hosts().stream()
        .anyMatch(
            host -> host.name().equals(topology.client()) && host.roles().contains("router"))) {
      notes.append(
          "the client's host has a mongos of its own, as where every application host has\n");
    }
    if (results.run() != null && results.run().processors() != null) {
      notes.append("processors: ").append(results.run().processors()).append('\n');
    }
    return notes.append(standIn(results)).toString();
  }

  private static String standIn(Results results) {
    if (!results.server().router().isStandIn()) {
      return "";
    }
    RouterCost cost = results.server().router().cost();
    return """
        The routers are OneHop's stand-in, not mongos: it serves one request at a time per
        connection as mongos does, but says nothing of a mongos' own speed.
        """
        + (cost == null ? "" : cost.sentence() + "\n");
  }
}
