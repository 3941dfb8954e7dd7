package dev.onehop.measure.report;

import dev.onehop.measure.results.Conditions;
import dev.onehop.measure.results.CpuPerOperation;
import dev.onehop.measure.results.LatencySummary;
import dev.onehop.measure.results.Point;
import dev.onehop.measure.results.Results;
import dev.onehop.measure.results.TopologyFacts;
import dev.onehop.measure.results.TopologyFacts.HostFacts;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;

/** The report's tables: the same figures as its charts, for reading and for screen readers. */
final class Tables {

  /** How many shades of shards the page's CSS has. */
  static final int SHARD_SHADES = 6;

  private final Results results;

  Tables(Results results) {
    this.results = results;
  }

  String throughput() {
    boolean rounds = ResultsTable.hasRounds(results);
    List<String> columns =
        new ArrayList<>(
            List.of(
                "mode",
                "conns",
                "threads",
                "ops/s",
                "limit",
                "% of limit",
                "pool bound",
                "errors"));
    if (rounds) {
      columns.add(columns.indexOf("ops/s") + 1, "rounds");
    }
    StringBuilder html = open("Throughput", columns.toArray(String[]::new));
    int before = 0;
    for (Point point : ResultsTable.inOrder(results.points())) {
      begin(html, point, before);
      before = point.threads();
      cell(html, Format.rate(point.throughput()));
      if (rounds) {
        cell(html, Format.range(point.rounds()));
      }
      cell(html, Format.rate(point.limit()));
      Double ofLimit = ResultsTable.ofLimit(point);
      html.append(
          String.format(
              Locale.ROOT,
              "<td class=\"meter\" style=\"--v:%.1f%%\">%s</td>",
              ofLimit == null ? 0 : Math.min(100, ofLimit * 100),
              Format.percent(ofLimit)));
      cell(html, Format.rate(point.poolLimit()));
      cell(html, Format.count(point.errors()));
      html.append("</tr>\n");
    }
    return close(html);
  }

  String latency(String operation) {
    StringBuilder html =
        open(
            operation + " latency in ms",
            "mode",
            "conns",
            "threads",
            "count",
            "mean",
            "p50",
            "p95",
            "p99",
            "p99.9",
            "max");
    int before = 0;
    for (Point point : ResultsTable.inOrder(results.points())) {
      LatencySummary latency = point.latencies().get(operation);
      if (latency != null) {
        begin(html, point, before);
        before = point.threads();
        cell(html, Format.count(latency.count()));
        cell(html, Format.millis(latency.mean()));
        cell(html, Format.millis(latency.p50()));
        cell(html, Format.millis(latency.p95()));
        cell(html, Format.millis(latency.p99()));
        cell(html, Format.millis(latency.p999()));
        cell(html, Format.millis(latency.max()));
        html.append("</tr>\n");
      }
    }
    return close(html);
  }

  /** Per point, a bar of the shards' shares with its figures beside it. */
  String shares() {
    List<String> shards = results.shards();
    StringBuilder html =
        open(
            "Operations by shard",
            "mode",
            "conns",
            "threads",
            "",
            String.join(" / ", shards) + " (%)",
            "beside owner (%)");
    int before = 0;
    for (Point point : ResultsTable.inOrder(results.points())) {
      StringBuilder bar = new StringBuilder("<span class=\"bar\" aria-hidden=\"true\">");
      StringBuilder figures = new StringBuilder();
      for (int i = 0; i < shards.size(); i++) {
        double share = point.share().getOrDefault(shards.get(i), 0.0);
        bar.append(
            String.format(
                Locale.ROOT,
                "<i class=\"s%d\" style=\"width:%.2f%%\"></i>",
                i % SHARD_SHADES,
                share * 100));
        figures.append(i == 0 ? "" : " / ").append(Format.percent(share));
      }
      bar.append("</span>");
      begin(html, point, before);
      before = point.threads();
      html.append("<td class=\"shares\">").append(bar).append("</td>");
      cell(html, point.share().isEmpty() ? Format.NONE : figures.toString());
      cell(html, Format.percent(point.besideOwner()));
      html.append("</tr>\n");
    }
    return close(html);
  }

  /** Where the processor time goes. */
  String cpu() {
    StringBuilder html =
        open(
            "Processor time per operation in µs",
            "mode",
            "conns",
            "threads",
            "all",
            "client",
            "routers",
            "mongods",
            "links");
    int before = 0;
    for (Point point : ResultsTable.inOrder(results.points())) {
      CpuPerOperation cpu = point.cpu();
      if (cpu != null) {
        begin(html, point, before);
        before = point.threads();
        cell(html, Format.micros(cpu.total()));
        cell(html, Format.micros(cpu.client()));
        cell(html, Format.micros(cpu.routers()));
        cell(html, Format.micros(cpu.mongods()));
        cell(html, Format.micros(cpu.links()));
        html.append("</tr>\n");
      }
    }
    return close(html);
  }

  /** How the points were measured. */
  String conditions() {
    StringBuilder html =
        open(
            "Conditions",
            "mode",
            "conns",
            "threads",
            "ops/s to ±%",
            "windows",
            "warm-up s",
            "steady",
            "steal %",
            "run queue",
            "MHz",
            "sockets",
            "bytes/op");
    int before = 0;
    for (Point point : ResultsTable.inOrder(results.points())) {
      Conditions seen = point.conditions();
      if (seen != null) {
        begin(html, point, before);
        before = point.threads();
        cell(html, Format.decimal(seen.error() == null ? null : (Double) (seen.error() * 100)));
        cell(html, Format.whole(seen.windows()));
        cell(html, Format.decimal(seen.warmupSeconds()));
        cell(html, seen.steady() == null ? "fixed time" : seen.steady() ? "yes" : "no");
        cell(html, Format.percent(seen.steal()) + (seen.isDisturbed() ? " *" : ""));
        cell(html, Format.decimal(seen.runQueue()));
        cell(html, Format.whole(seen.clockMegahertz()));
        cell(html, Format.whole(seen.sockets()));
        cell(html, Format.whole(seen.bytesPerOperation()));
        html.append("</tr>\n");
      }
    }
    return close(html);
  }

  /** The hosts with their round trips from the client. */
  String hosts() {
    TopologyFacts topology = results.topology();
    StringBuilder html =
        open(
            "Hosts",
            "host",
            "region",
            "runs",
            "round trip from client, configured (ms)",
            "measured (ms)");
    for (HostFacts host : topology.hosts()) {
      Double configured = topology.configured(topology.client(), host.name());
      Double measured = topology.measuredFromClient(host.name());
      row(
          html,
          host.name(),
          host.region(),
          String.join(", ", host.roles()),
          configured == null ? Format.NONE : Format.ofMillis(configured),
          measured == null ? Format.NONE : Format.ofMillis(measured));
    }
    return close(html).replaceFirst("<table>", "<table class=\"words\">");
  }

  /** Round trips between the regions, and between two hosts of one; empty for a single region. */
  String roundTrips() {
    List<String> regions = results.topology().regions();
    if (regions.size() < 2) {
      return "";
    }
    StringBuilder html =
        open(
            "Round trips between hosts of these regions, configured (ms)",
            Stream.concat(Stream.of("region"), regions.stream()).toArray(String[]::new));
    for (String from : regions) {
      row(html, from, regions.stream().map(to -> roundTrip(from, to)).toArray(String[]::new));
    }
    return close(html);
  }

  private String roundTrip(String from, String to) {
    TopologyFacts topology = results.topology();
    return topology.hosts().stream()
        .filter(host -> host.region().equals(from))
        .flatMap(
            host ->
                topology.hosts().stream()
                    .filter(other -> other.region().equals(to) && !other.equals(host))
                    .map(other -> topology.configured(host.name(), other.name())))
        .filter(Objects::nonNull)
        .findFirst()
        .map(Format::ofMillis)
        .orElse(Format.NONE);
  }

  /**
   * A table.
   *
   * @param rows the header first
   */
  static String of(String title, List<List<String>> rows) {
    StringBuilder html = open(title, rows.get(0).toArray(String[]::new));
    for (List<String> row : rows.subList(1, rows.size())) {
      row(html, row.get(0), row.subList(1, row.size()).toArray(String[]::new));
    }
    return close(html);
  }

  /** Names and values, one pair a row. */
  static String facts(Map<String, String> facts) {
    StringBuilder html = new StringBuilder("<dl>\n");
    facts.forEach(
        (name, value) ->
            html.append("<dt>")
                .append(Html.escape(name))
                .append("</dt><dd>")
                .append(Html.escape(value))
                .append("</dd>\n"));
    return html.append("</dl>\n").toString();
  }

  private static String label(Point point) {
    return point.mode() + (point.pipelining() ? ", pipelined" : "");
  }

  /** A point's row and its label; a rule above it where threads change. */
  private static void begin(StringBuilder html, Point point, int threadsBefore) {
    boolean rule = threadsBefore != 0 && threadsBefore != point.threads();
    html.append(rule ? "<tr class=\"rule\">" : "<tr>");
    html.append("<th scope=\"row\">").append(Html.escape(label(point))).append("</th>");
    cell(html, String.valueOf(point.connections()));
    cell(html, String.valueOf(point.threads()));
  }

  static StringBuilder open(String caption, String... columns) {
    StringBuilder html =
        new StringBuilder("<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"")
            .append(Html.escape(caption))
            .append("\"><table><caption>");
    html.append(Html.escape(caption)).append("</caption><thead><tr>");
    for (String column : columns) {
      html.append("<th scope=\"col\">").append(Html.escape(column)).append("</th>");
    }
    return html.append("</tr></thead><tbody>\n");
  }

  static void row(StringBuilder html, String name, String... cells) {
    html.append("<tr><th scope=\"row\">").append(Html.escape(name)).append("</th>");
    for (String cell : cells) {
      cell(html, cell);
    }
    html.append("</tr>\n");
  }

  private static void cell(StringBuilder html, String text) {
    html.append("<td>").append(Html.escape(text)).append("</td>");
  }

  static String close(StringBuilder html) {
    return html.append("</tbody></table></div>\n").toString();
  }
}
