package dev.onehop.measure.report;

import dev.onehop.measure.results.FleetResult;
import dev.onehop.measure.results.FleetResult.Line;
import dev.onehop.measure.results.FleetResult.Server;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** Many instances of an application and what they occupy, in the report and in the table. */
final class FleetSection {
  private static final List<String> COLUMNS =
      List.of(
          "client",
          "conns",
          "done/s",
          "p50",
          "p99",
          "failed",
          "sockets, busiest mongos",
          "all mongos",
          "busiest mongod",
          "all mongod",
          "grown MiB, mongos",
          "mongod");

  private static final List<String> SERVER_COLUMNS =
      List.of(
          "server",
          "host",
          "what",
          "sockets at rest",
          "at load",
          "peak",
          "MiB at rest",
          "at load",
          "peak");

  private static final String NOTES =
      "Latencies in ms, from the intended time. Sockets: the most that were open at one time, those"
          + " of other servers included. Grown: memory (RSS) from before the clients to the peak;"
          + " servers keep what they have taken, so ways with few sockets ran first.";

  private final FleetResult fleet;

  FleetSection(FleetResult fleet) {
    this.fleet = fleet;
  }

  private String conditions() {
    return "%d instances of an application in %d processes, %s operations a second in all for %d seconds: each instance issues %d operations at once, one instance after the other."
        .formatted(
            fleet.clients(),
            fleet.processes(),
            Format.rate(fleet.rate()),
            fleet.seconds(),
            fleet.burst());
  }

  /** What the fewest sockets save beside the official client. */
  String sentence() {
    Optional<Line> official =
        fleet.lines().stream().filter(line -> line.mode().equals("async")).findFirst();
    Optional<Line> routed =
        fleet.lines().stream()
            .filter(line -> line.pipelining() && line.mode().equals("targeted-async"))
            .findFirst();
    if (official.isEmpty() || routed.isEmpty()) {
      return conditions();
    }
    int many = official.get().peakSocketsOfOne(true);
    int few = routed.get().peakSocketsOfOne(true);
    return "With %d instances of an application, the busiest mongos had %d sockets with %s and %d with %s (a factor of %.1f), all mongoses %d and %d, at %s and %s operations a second."
        .formatted(
            fleet.clients(),
            many,
            name(official.get()),
            few,
            name(routed.get()),
            (double) many / Math.max(1, few),
            official.get().peakSockets(true),
            routed.get().peakSockets(true),
            Format.rate(official.get().perSecond()),
            Format.rate(routed.get().perSecond()));
  }

  private static String name(Line line) {
    return new Series(line.mode(), line.connections(), line.pipelining(), false)
        .name(line.connections());
  }

  private List<List<String>> rows() {
    List<List<String>> rows = new ArrayList<>();
    rows.add(COLUMNS);
    for (Line line : fleet.lines()) {
      rows.add(
          List.of(
              line.mode() + (line.pipelining() ? " (pipelined)" : ""),
              String.valueOf(line.connections()),
              Format.rate(line.perSecond()),
              Format.millis(line.latency().p50()),
              Format.millis(line.latency().p99()),
              Format.count(line.errors()),
              Format.count(line.peakSocketsOfOne(true)),
              Format.count(line.peakSockets(true)),
              Format.count(line.peakSocketsOfOne(false)),
              Format.count(line.peakSockets(false)),
              mebibytes(line.grownBytes(true)),
              mebibytes(line.grownBytes(false))));
    }
    return rows;
  }

  private static String mebibytes(long bytes) {
    return String.format(Locale.ROOT, "%,d", Math.round(bytes / 1048576.0));
  }

  /** For a terminal. */
  String table() {
    StringBuilder text = new StringBuilder("Scenario fleet: ").append(conditions()).append("\n\n");
    List<List<String>> rows = rows();
    int[] widths = ResultsTable.widths(rows);
    rows.forEach(row -> text.append(ResultsTable.line(row, widths)).append('\n'));
    return text.append('\n').append(NOTES).append('\n').append(sentence()).append('\n').toString();
  }

  /** For the report. */
  void appendTo(StringBuilder html) {
    html.append("<section id=\"fleet\">\n<h2>Scenario fleet</h2>\n<p>");
    html.append(Html.escape(conditions())).append("</p>\n");
    html.append(Tables.of("What many instances occupy", rows()));
    html.append("<p>").append(Html.escape(NOTES)).append("</p>\n");
    for (Line line : fleet.lines()) {
      List<List<String>> rows = new ArrayList<>();
      rows.add(SERVER_COLUMNS);
      line.servers().forEach(server -> rows.add(row(server)));
      html.append(Tables.of("Servers with " + name(line), rows));
    }
    html.append("</section>\n");
  }

  private static List<String> row(Server server) {
    return List.of(
        server.server(),
        server.host(),
        server.router() ? "mongos" : "mongod",
        Format.count(server.rest().sockets()),
        Format.count(server.load().sockets()),
        Format.count(server.peak().sockets()),
        mebibytes(server.rest().memoryBytes()),
        mebibytes(server.load().memoryBytes()),
        mebibytes(server.peak().memoryBytes()));
  }
}
