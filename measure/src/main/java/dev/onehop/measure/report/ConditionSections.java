package dev.onehop.measure.report;

import dev.onehop.measure.report.Section.Medium;
import dev.onehop.measure.results.ClientRun;
import dev.onehop.measure.results.ClientRun.Part;
import dev.onehop.measure.results.Conditions;
import dev.onehop.measure.results.CpuPerOperation;
import dev.onehop.measure.results.Point;
import java.util.List;
import java.util.Objects;

/**
 * Three sections about the measurement of closed loops: processor time, the state of the machine,
 * and points with several clients.
 *
 * @param points the points, in display order
 * @param clients the clients of points with several clients
 */
record ConditionSections(List<Point> points, List<ClientRun> clients) {

  void addTo(Sheet sheet) {
    sheet.add(processorTime()).add(conditions()).add(clientTables());
  }

  private Section processorTime() {
    return new Section("cpu", "Processor time", Medium.PAGE)
        .table(
            PointSections.head(
                    "Processor time per operation in µs, user and system",
                    points.stream().filter(point -> point.cpu() != null).toList(),
                    point -> point.client().name())
                .of("all", Format::whole, point -> cpu(point).total())
                .of("client", Format::whole, point -> cpu(point).client())
                .of("routers", Format::whole, point -> cpu(point).routers())
                .of("mongods", Format::whole, point -> cpu(point).mongods())
                .of("links", Format::whole, point -> cpu(point).links())
                .means("the process that makes the delays between regions"));
  }

  private static CpuPerOperation cpu(Point point) {
    return Objects.requireNonNull(point.cpu());
  }

  private Section conditions() {
    return new Section("conditions", "How the points were measured", Medium.PAGE)
        .table(
            PointSections.head(
                    "",
                    points.stream().filter(point -> point.conditions() != null).toList(),
                    point -> point.client().name())
                .of("ops/s to ±%", Format::decimal, Point::errorPercent)
                .means(PointSections.ERROR)
                .of("windows", Format::whole, point -> seen(point).windows())
                .of("warm-up s", Format::decimal, point -> seen(point).warmupSeconds())
                .text("steady", point -> steady(seen(point)))
                .means("whether the rate was steady at the end of the warm-up")
                .text("steal %", point -> steal(seen(point)))
                .means("share of processor time that the host gave to other virtual machines")
                .of("run queue", Format::decimal, point -> seen(point).runQueue())
                .means(
                    "mean number of threads that ran or waited for a processor, on the whole"
                        + " machine")
                .of("MHz", Format::whole, point -> seen(point).clockMegahertz())
                .of("sockets", Format::whole, point -> seen(point).sockets())
                .of("bytes/op", Format::whole, point -> seen(point).bytesPerOperation())
                .means(
                    "bytes per operation through the links, both directions together; the traffic"
                        + " between servers is included"));
  }

  private static Conditions seen(Point point) {
    return Objects.requireNonNull(point.conditions());
  }

  private static String steady(Conditions seen) {
    return seen.steady() == null ? "fixed time" : seen.steady() ? "yes" : "no";
  }

  private static String steal(Conditions seen) {
    return Format.percent(seen.steal()) + (seen.isDisturbed() ? " *" : "");
  }

  /** Returns the section about points with several clients. */
  private Section clientTables() {
    Section section = new Section("clients", "Clients");
    for (ClientRun run : clients) {
      section.table(
          new Columns<>(title(run) + "; latencies in ms", run.clients())
              .of("client", Format::whole, Part::index)
              .of("ops/s", Format::rate, Part::throughput)
              .latencies("", Part::latency, "p50", "p99", "p99.9", "max")
              .of("errors", Format::whole, Part::errors)
              .of("cpu us/op", Format::whole, Part::cpu));
    }
    return clients.isEmpty()
        ? section
        : section.say(
            "The latencies of a point are computed from the sum of its clients' histograms. The"
                + " numbers of threads and connections are per client.");
  }

  private String title(ClientRun run) {
    String what =
        points.stream()
            .filter(each -> each.folder().equals(run.folder()))
            .findFirst()
            .map(each -> each.client().label() + ", " + Format.counted(each.threads(), "thread"))
            .orElse(run.folder());
    return "%s: %d clients, started within %s ms"
        .formatted(what, run.clients().size(), Format.whole(run.startSpreadMillis()));
  }
}
