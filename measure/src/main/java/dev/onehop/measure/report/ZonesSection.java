package dev.onehop.measure.report;

import dev.onehop.measure.results.Client;
import dev.onehop.measure.results.ZonesResult;
import dev.onehop.measure.results.ZonesResult.Line;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;

/** What crossed zones, in the report and in the table: sentences and figures. */
final class ZonesSection {
  private static final List<String> COLUMNS =
      List.of(
          "client",
          "configured",
          "zone",
          "crossed B/op",
          "client-mongos",
          "client-shard",
          "mongos-shard",
          "background",
          "p50 ms",
          "p99 ms",
          "failed");

  private static final String NOTES =
      """
      Bytes of TCP payload per operation from one zone to another, both directions together, counted by the links.
      crossed: between application and servers, and between mongoses and shards, heartbeats of both included.
      background: the rest that crossed meanwhile, replication and metadata."""
          .strip();

  private final ZonesResult result;

  ZonesSection(ZonesResult result) {
    this.result = result;
  }

  /** What crossed, the best of the official clients beside the best routed one. */
  static String sentence(ZonesResult result) {
    List<String> parts = new ArrayList<>();
    ZonesSection section = new ZonesSection(result);
    section.compared(true).ifPresent(parts::add);
    section.compared(false).ifPresent(parts::add);
    section.unsaved().ifPresent(parts::add);
    return parts.isEmpty() ? "No client was finished." : String.join(" ", parts);
  }

  private Optional<Line> best(boolean reads, Predicate<Line> which) {
    return result.lines().stream()
        .filter(line -> line.reads() == reads)
        .filter(which)
        .min(Comparator.comparingDouble(line -> line.crossed().ofOperations()));
  }

  private Optional<String> compared(boolean reads) {
    Optional<Line> official = best(reads, line -> Client.isOfficial(line.mode()));
    Optional<Line> routed = best(reads, line -> !Client.isOfficial(line.mode()));
    if (official.isEmpty() || routed.isEmpty()) {
      return Optional.empty();
    }
    double before = official.get().crossed().ofOperations();
    double after = routed.get().crossed().ofOperations();
    return Optional.of(
        "%s took %s bytes across zones with %s, %s with %s (%s times as much)."
            .formatted(
                reads ? "A read of any member" : "An operation on a primary",
                bytes(before),
                name(official.get()),
                bytes(after),
                name(routed.get()),
                before > 0 ? String.format(Locale.ROOT, "%.3f", after / before) : Format.NONE));
  }

  /** Two of three primaries are elsewhere: a request and its answer have to get there. */
  private Optional<String> unsaved() {
    return best(false, line -> line.mode().startsWith("direct"))
        .map(
            line ->
                "For primaries, %s bytes an operation can't be saved: request and answer have to get to the zone of the primary, which is what direct mode sends; updates are replicated besides (%s bytes an operation in the background)."
                    .formatted(
                        bytes(line.crossed().clientAndShard()),
                        bytes(line.crossed().background())));
  }

  private static String name(Line line) {
    return line.mode() + " (" + line.variant() + ")";
  }

  private static String bytes(double bytes) {
    return String.format(Locale.ROOT, bytes >= 100 ? "%,.0f" : "%.1f", bytes);
  }

  private String conditions() {
    return "%s operations a second, counted for %s seconds; every client knows every mongos."
        .formatted(Format.rate(result.rate()), Format.rate(result.seconds()));
  }

  /** For a terminal. */
  String table() {
    StringBuilder text = new StringBuilder("Scenario zones: ").append(conditions()).append('\n');
    tables()
        .forEach(
            (title, rows) -> {
              int[] widths = ResultsTable.widths(rows);
              text.append('\n').append(title).append('\n');
              rows.forEach(row -> text.append(ResultsTable.line(row, widths)).append('\n'));
            });
    return text.append('\n')
        .append(NOTES)
        .append("\n\n")
        .append(sentence(result))
        .append("\n\n")
        .toString();
  }

  private Map<String, List<List<String>>> tables() {
    Map<String, List<List<String>>> tables = new LinkedHashMap<>();
    tables.put("Reads of any member (nearest)", rows(true));
    tables.put("Half reads, half updates, of primaries", rows(false));
    return tables;
  }

  private List<List<String>> rows(boolean reads) {
    List<List<String>> rows = new ArrayList<>();
    rows.add(COLUMNS);
    for (Line line : result.lines()) {
      if (line.reads() == reads) {
        rows.add(
            List.of(
                line.mode(),
                line.variant(),
                line.zone(),
                bytes(line.crossed().ofOperations()),
                bytes(line.crossed().clientAndRouter()),
                bytes(line.crossed().clientAndShard()),
                bytes(line.crossed().routerAndShard()),
                bytes(line.crossed().background()),
                Format.millis(line.latency().p50()),
                Format.millis(line.latency().p99()),
                Format.count(line.failed())));
      }
    }
    return rows;
  }

  /** For the report. */
  void appendTo(StringBuilder html) {
    html.append("<section id=\"zones\">\n<h2>Scenario zones</h2>\n<p>");
    html.append(Html.escape(conditions())).append(' ').append(Html.escape(sentence(result)));
    html.append("</p>\n");
    tables().forEach((title, rows) -> html.append(Tables.of(title, rows)));
    html.append("<p>").append(Html.escape(NOTES)).append("</p>\n</section>\n");
  }
}
