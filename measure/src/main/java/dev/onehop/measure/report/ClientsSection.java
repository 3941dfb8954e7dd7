package dev.onehop.measure.report;

import dev.onehop.measure.results.ClientRun;
import dev.onehop.measure.results.ClientRun.Part;
import dev.onehop.measure.results.Point;
import dev.onehop.measure.results.Results;
import java.util.ArrayList;
import java.util.DoubleSummaryStatistics;
import java.util.List;
import java.util.Optional;

/** The clients behind points that several loaded together, in the report and in the table. */
final class ClientsSection {
  private static final List<String> COLUMNS =
      List.of("client", "ops/s", "p50", "p99", "p99.9", "max", "errors", "cpu us/op");

  private static final String NOTE =
      "Latencies in ms. A point's own latencies are those of all operations of all its clients:"
          + " their histograms are added, percentiles are not averaged. Threads and connections"
          + " are each client's.";

  private final Results results;

  ClientsSection(Results results) {
    this.results = results;
  }

  /** For a terminal: a line for each point; empty if every point has one client. */
  String lines() {
    StringBuilder text = new StringBuilder();
    for (ClientRun run : results.clients()) {
      DoubleSummaryStatistics rate = new DoubleSummaryStatistics();
      DoubleSummaryStatistics cpu = new DoubleSummaryStatistics();
      for (Part client : run.clients()) {
        rate.accept(client.throughput());
        if (client.cpu() != null) {
          cpu.accept(client.cpu());
        }
      }
      text.append("clients: ").append(title(run));
      text.append("; each ").append(Format.rate(rate.getMin())).append(" to ");
      text.append(Format.rate(rate.getMax())).append(" ops/s");
      if (cpu.getCount() > 0) {
        text.append(" at ").append(Format.micros(cpu.getMin())).append(" to ");
        text.append(Format.micros(cpu.getMax())).append(" us/op of processor time");
      }
      text.append('\n');
    }
    return text.toString();
  }

  private String title(ClientRun run) {
    Optional<Point> point =
        results.points().stream().filter(each -> each.folder().equals(run.folder())).findFirst();
    String what =
        point
            .map(
                each ->
                    new Series(each.mode(), each.connections(), each.pipelining(), false)
                            .name(each.connections())
                        + ", "
                        + each.threads()
                        + (each.threads() == 1 ? " thread" : " threads"))
            .orElse(run.folder());
    return what
        + ": "
        + run.clients().size()
        + " clients, started within "
        + Format.count(run.startSpreadMillis())
        + " ms";
  }

  /** For the report. */
  void appendTo(StringBuilder html) {
    html.append("<section id=\"clients\">\n<h2>Clients</h2>\n<p>");
    html.append(Html.escape(NOTE)).append("</p>\n");
    for (ClientRun run : results.clients()) {
      StringBuilder table = Tables.open(title(run), COLUMNS.toArray(String[]::new));
      for (Part client : run.clients()) {
        List<String> row = row(client);
        Tables.row(table, row.get(0), row.subList(1, row.size()).toArray(String[]::new));
      }
      html.append(Tables.close(table));
    }
    html.append("</section>\n");
  }

  private static List<String> row(Part client) {
    List<String> row = new ArrayList<>();
    row.add(String.valueOf(client.index()));
    row.add(Format.rate(client.throughput()));
    row.add(Format.millis(client.latency().p50()));
    row.add(Format.millis(client.latency().p99()));
    row.add(Format.millis(client.latency().p999()));
    row.add(Format.millis(client.latency().max()));
    row.add(Format.count(client.errors()));
    row.add(Format.micros(client.cpu()));
    return row;
  }
}
