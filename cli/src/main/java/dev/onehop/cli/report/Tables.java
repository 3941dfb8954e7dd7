package dev.onehop.cli.report;

import dev.onehop.cli.results.LatencySummary;
import dev.onehop.cli.results.Point;
import dev.onehop.cli.results.Results;
import dev.onehop.cli.results.TopologyFacts;
import dev.onehop.cli.results.TopologyFacts.HostFacts;
import java.util.List;
import java.util.Map;

/** The report's tables: the same figures as its charts, for reading and for screen readers. */
final class Tables {

  private final Results results;

  Tables(Results results) {
    this.results = results;
  }

  String throughput() {
    StringBuilder html =
        open(
            "Throughput",
            "mode",
            "conns",
            "threads",
            "ops/s",
            "limit",
            "% of limit",
            "pool bound",
            "errors");
    for (Point point : ResultsTable.inOrder(results.points())) {
      row(
          html,
          label(point),
          String.valueOf(point.connections()),
          String.valueOf(point.threads()),
          Format.rate(point.throughput()),
          Format.rate(point.limit()),
          Format.percent(ResultsTable.ofLimit(point)),
          Format.rate(point.poolLimit()),
          Format.count(point.errors()));
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
    for (Point point : ResultsTable.inOrder(results.points())) {
      LatencySummary latency = point.latencies().get(operation);
      if (latency != null) {
        row(
            html,
            label(point),
            String.valueOf(point.connections()),
            String.valueOf(point.threads()),
            Format.count(latency.count()),
            Format.millis(latency.mean()),
            Format.millis(latency.p50()),
            Format.millis(latency.p95()),
            Format.millis(latency.p99()),
            Format.millis(latency.p999()),
            Format.millis(latency.max()));
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
    for (Point point : ResultsTable.inOrder(results.points())) {
      StringBuilder bar = new StringBuilder("<span class=\"bar\" aria-hidden=\"true\">");
      StringBuilder figures = new StringBuilder();
      for (int i = 0; i < shards.size(); i++) {
        double share = point.share().getOrDefault(shards.get(i), 0.0);
        bar.append(
            String.format(
                java.util.Locale.ROOT,
                "<i class=\"s%d\" style=\"width:%.2f%%\"></i>",
                i % 4,
                share * 100));
        figures.append(i == 0 ? "" : " / ").append(Format.percent(share));
      }
      bar.append("</span>");
      html.append("<tr><th scope=\"row\">").append(Html.escape(label(point))).append("</th>");
      cell(html, String.valueOf(point.connections()));
      cell(html, String.valueOf(point.threads()));
      html.append("<td class=\"wide\">").append(bar).append("</td>");
      cell(html, point.share().isEmpty() ? Format.NONE : figures.toString());
      cell(html, Format.percent(point.besideOwner()));
      html.append("</tr>\n");
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

  private static StringBuilder open(String caption, String... columns) {
    StringBuilder html = new StringBuilder("<div class=\"scroll\" tabindex=\"0\"><table><caption>");
    html.append(Html.escape(caption)).append("</caption><thead><tr>");
    for (String column : columns) {
      html.append("<th scope=\"col\">").append(Html.escape(column)).append("</th>");
    }
    return html.append("</tr></thead><tbody>\n");
  }

  private static void row(StringBuilder html, String name, String... cells) {
    html.append("<tr><th scope=\"row\">").append(Html.escape(name)).append("</th>");
    for (String cell : cells) {
      cell(html, cell);
    }
    html.append("</tr>\n");
  }

  private static void cell(StringBuilder html, String text) {
    html.append("<td>").append(Html.escape(text)).append("</td>");
  }

  private static String close(StringBuilder html) {
    return html.append("</tbody></table></div>\n").toString();
  }
}
