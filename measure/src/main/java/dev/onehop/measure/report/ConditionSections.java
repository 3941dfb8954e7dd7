package dev.onehop.measure.report;

import dev.onehop.measure.report.Section.Medium;
import dev.onehop.measure.results.ClientRun;
import dev.onehop.measure.results.ClientRun.Part;
import dev.onehop.measure.results.Conditions;
import dev.onehop.measure.results.CpuPerOperation;
import dev.onehop.measure.results.Point;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The conditions of closed loops: processor time, conditions of the machine, several clients.
 *
 * @param points in display order
 * @param clients the clients of points with several clients
 */
record ConditionSections(List<Point> points, List<ClientRun> clients) {

  void addTo(Sheet sheet) {
    sheet.add(processorTime()).add(conditions()).add(clientTables());
  }

  private Section processorTime() {
    return new Section("cpu", "Processor time", Medium.PAGE)
        .table(
            Table.of(
                "Processor time per operation in µs, user and system",
                points.stream().filter(point -> point.cpu() != null).toList(),
                PointSections.head(point -> point.client().name()),
                List.of(
                    Column.of("all", Format::whole, point -> cpu(point).total()),
                    Column.of("client", Format::whole, point -> cpu(point).client()),
                    Column.of("routers", Format::whole, point -> cpu(point).routers()),
                    Column.of("mongods", Format::whole, point -> cpu(point).mongods()),
                    Column.<Point>of("links", Format::whole, point -> cpu(point).links())
                        .means("the process that makes the delays between regions"))));
  }

  private static CpuPerOperation cpu(Point point) {
    return Objects.requireNonNull(point.cpu());
  }

  private Section conditions() {
    return new Section("conditions", "How the points were measured", Medium.PAGE)
        .table(
            Table.of(
                "",
                points.stream().filter(point -> point.conditions() != null).toList(),
                PointSections.head(point -> point.client().name()),
                List.of(
                    Column.<Point>of("ops/s to ±%", Format::decimal, Point::errorPercent)
                        .means("half the 95 % interval, by the means of windows of a second"),
                    seen("windows", Format::whole, Conditions::windows),
                    seen("warm-up s", Format::decimal, Conditions::warmupSeconds),
                    Column.<Point>text("steady", point -> steady(seen(point)))
                        .means("whether the rate was steady in the end"),
                    Column.<Point>text("steal %", point -> steal(seen(point)))
                        .means("processor time that the host gave to other machines"),
                    seen("run queue", Format::decimal, Conditions::runQueue)
                        .means("threads of the whole machine that ran or waited"),
                    seen("MHz", Format::whole, Conditions::clockMegahertz),
                    seen("sockets", Format::whole, Conditions::sockets),
                    seen("bytes/op", Format::whole, Conditions::bytesPerOperation)
                        .means("of operations and replies, on the links"))));
  }

  private static Column<Point> seen(
      String name,
      Function<Number, String> format,
      Function<Conditions, ? extends @Nullable Number> value) {
    return Column.of(name, format, point -> value.apply(seen(point)));
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

  /** The clients of points with several clients. */
  private Section clientTables() {
    Section section = new Section("clients", "Clients");
    for (ClientRun run : clients) {
      section.table(
          Table.of(
              title(run) + "; latencies in ms",
              run.clients(),
              List.of(
                  Column.of("client", Format::whole, Part::index),
                  Column.of("ops/s", Format::rate, Part::throughput)),
              Column.latencies("", Part::latency, "p50", "p99", "p99.9", "max"),
              List.of(
                  Column.of("errors", Format::whole, Part::errors),
                  Column.of("cpu us/op", Format::whole, Part::cpu))));
    }
    return clients.isEmpty()
        ? section
        : section.say(
            "A point's latencies include all operations of all its clients: their"
                + " histograms are added, percentiles are not averaged. Threads and connections are"
                + " each client's.");
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
