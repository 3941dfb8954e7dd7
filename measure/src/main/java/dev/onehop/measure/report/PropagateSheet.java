package dev.onehop.measure.report;

import dev.onehop.measure.report.LineChart.Spot;
import dev.onehop.measure.results.LatencySummary;
import dev.onehop.measure.results.PropagateMeasurement;
import dev.onehop.measure.results.PropagateResults;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.ToIntFunction;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** The sheet of {@code onehop propagate}: the delay until each change arrives, by path. */
record PropagateSheet(PropagateResults results) {
  private static final String MONGOS = "mongos";
  private static final List<String> PATHS =
      List.of(MONGOS, "shards", "ordered", PropagateMeasurement.MAJORITY);

  private static final Map<String, String> PATH_TEXTS =
      Map.of(
          MONGOS,
          "the official driver's change stream through a mongos",
          "shards",
          "OneHop's stream of each shard, events in the order of their arrival",
          "ordered",
          "OneHop's streams of all shards, events sorted",
          PropagateMeasurement.MAJORITY,
          "another program repeats a read with read concern majority until it finds the object, so"
              + " the time is up to one read too long");

  private static final Map<String, String> LEGENDS =
      Map.of(
          "seen",
          "for each object, from the intended time of its write until its event has arrived",
          "from begin",
          "from the start of the object's write until its event has arrived",
          "test",
          "from the start of a test until its signals have arrived. After all objects, the test"
              + " writes one signal to each shard",
          "live",
          "from the subscription until all documents, and the signals written after them, have"
              + " arrived");

  private static final List<String> FIGURES = List.of("p50", "p99", "max", "mean");
  private static final List<String> ALL_FIGURES =
      List.of("p50", "p90", "p99", "p99.9", "max", "mean");

  Sheet sheet() {
    Sheet sheet =
        new Sheet(
            "OneHop propagate: " + results.topology().name(),
            results,
            "The HdrHistogram logs (.hlog) are in the folders of the measurements.");
    sheet.limit(noops());
    grouped(results.measurements(), PropagateMeasurement::name)
        .forEach(
            (name, measurements) -> {
              compare(sheet, name, measurements);
              sheet.add(section(name, measurements));
            });
    return sheet;
  }

  /**
   * Returns sentences about the settings that decide how long a mongos' stream waits for idle
   * servers.
   */
  private String noops() {
    PropagateResults.Streams streams = results.streams();
    String noops =
        streams.noopSeconds().entrySet().stream()
            .map(each -> each.getKey() + " " + Format.decimal(each.getValue()) + " s")
            .collect(Collectors.joining(", "));
    return ("Intervals of no-op writes on idle servers: %s. Await time (maxAwaitTimeMS) of change"
            + " streams: %d ms. The path named ordered sorts %s.%s")
        .formatted(
            noops.isEmpty() ? "unknown" : noops,
            streams.awaitMillis(),
            streams.order().equals("total") ? "all events" : "the events of each document",
            results.server().router().isStandIn() && streams.standInWaits()
                ? " The stand-in's change streams wait for every shard and the config servers, as"
                    + " those of a mongos do."
                : "");
  }

  /** Compares the median by the fastest stream of the shards with the median through a mongos. */
  private static void compare(Sheet sheet, String name, List<PropagateMeasurement> measurements) {
    String first = title(measurements.get(0));
    List<PropagateMeasurement> tests =
        measurements.stream().filter(each -> title(each).equals(first)).toList();
    Optional<PropagateMeasurement> mongos = of(tests, MONGOS);
    Optional<PropagateMeasurement> shards = of(tests, "ordered").or(() -> of(tests, "shards"));
    if (mongos.isEmpty() || shards.isEmpty()) {
      return;
    }
    double ours = shards.get().latency().p50();
    double theirs = mongos.get().latency().p50();
    sheet.say(
        "%s: %s after %s ms (p50). This is %s the %s ms through a mongos."
            .formatted(
                first,
                isRead(shards.get())
                    ? "a reader of the shards is live"
                    : "a change arrives from the shards",
                Format.millis(ours),
                Verdict.shorter(ours, theirs),
                Format.millis(theirs)));
    sheet.figure(
        Format.millis(ours) + " ms",
        name + ", from the shards (p50)",
        Format.millis(theirs) + " ms through a mongos");
  }

  private static Optional<PropagateMeasurement> of(
      List<PropagateMeasurement> measurements, String path) {
    return measurements.stream()
        .filter(each -> each.path().equals(path) && each.latency().count() > 0)
        .findFirst();
  }

  private static <K> Map<K, List<PropagateMeasurement>> grouped(
      List<PropagateMeasurement> measurements, Function<PropagateMeasurement, K> by) {
    return measurements.stream()
        .collect(Collectors.groupingBy(by, LinkedHashMap::new, Collectors.toList()));
  }

  /** Whether the measurement reads documents. It then has no times of writes. */
  private static boolean isRead(PropagateMeasurement each) {
    return each.service() == null;
  }

  private static boolean isLoad(PropagateMeasurement each) {
    return each.name().equals(PropagateMeasurement.LOAD);
  }

  private static String title(PropagateMeasurement each) {
    return "%s: %s of %d bytes%s, %s"
        .formatted(
            each.name(),
            Format.counted(each.documents(), "object"),
            each.bytes(),
            isRead(each) || isLoad(each) ? "" : ", " + Format.whole(each.batch()) + " per write",
            isLoad(each)
                ? Format.counted(each.clients(), "client")
                    + " in "
                    + each.processes()
                    + (each.processes() == 1 ? " process" : " processes")
                : Format.counted(each.runs(), "test"));
  }

  private Section section(String name, List<PropagateMeasurement> measurements) {
    Section section = new Section(name, name);
    for (String path : PATHS) {
      if (measurements.stream().anyMatch(each -> each.path().equals(path))) {
        section.say(path + ": " + PATH_TEXTS.get(path) + ".");
      }
    }
    grouped(measurements, PropagateMeasurement::documents)
        .forEach(
            (documents, some) -> {
              String size = Format.counted(documents, "object");
              section.chart(chart(some, "objects per write", PropagateMeasurement::batch, size));
              section.chart(chart(some, "bytes per object", PropagateMeasurement::bytes, size));
              section.chart(chart(some, "clients", PropagateMeasurement::clients, size));
            });
    section.chart(chart(measurements, "objects", PropagateMeasurement::documents, "all sizes"));
    if (section.charts().isEmpty()) {
      section.chart(percentiles(measurements));
    }
    grouped(measurements, PropagateSheet::title)
        .forEach((title, paths) -> section.table(table(title, paths)));
    return section;
  }

  /**
   * Returns a chart of the median time by a size, such as the number of documents. The chart is
   * empty if there is only one size. It shows the times of whole tests if tests were timed.
   */
  private static LineChart chart(
      List<PropagateMeasurement> measurements,
      String label,
      ToIntFunction<PropagateMeasurement> size,
      String of) {
    boolean tests = measurements.stream().anyMatch(each -> each.test() != null && !isLoad(each));
    List<Integer> sizes = measurements.stream().map(size::applyAsInt).distinct().toList();
    LineChart chart =
        new LineChart(
            "Time %s by %s, %s, p50 in milliseconds"
                .formatted(tests ? "of a test" : "until live", label, of),
            Axis.counts(label, sizes),
            "ms",
            true);
    return sizes.size() < 2
        ? chart
        : chart.lines(
            byPath(measurements),
            each -> LineStyle.of(each.path()),
            each -> new Spot(size.applyAsInt(each), whole(each).p50() / 1000.0));
  }

  /** Returns the measurements in the order of their paths. */
  private static List<PropagateMeasurement> byPath(List<PropagateMeasurement> measurements) {
    return PATHS.stream()
        .flatMap(path -> measurements.stream().filter(each -> each.path().equals(path)))
        .toList();
  }

  /** Returns the times of whole tests; the latencies if tests were not timed. */
  private static LatencySummary whole(PropagateMeasurement each) {
    LatencySummary test = each.test();
    return test != null && test.count() > 0 ? test : each.latency();
  }

  /** Returns a chart of the latencies by percentile, with a curve for each measurement. */
  private static LineChart percentiles(List<PropagateMeasurement> measurements) {
    LineChart chart =
        new LineChart("Time by percentile, in milliseconds", Axis.percentiles(3), "ms", true);
    for (PropagateMeasurement each : measurements) {
      LatencySummary times = each.latency();
      chart.curve(
          LineStyle.of(each.path()),
          List.of(
              new Spot(0.5, times.p50() / 1000.0),
              new Spot(0.9, times.p90() / 1000.0),
              new Spot(0.99, times.p99() / 1000.0),
              new Spot(0.999, times.p999() / 1000.0)));
    }
    return chart;
  }

  /** Returns a table with a row for each figure and a column for each path. */
  private static Table table(String title, List<PropagateMeasurement> measurements) {
    List<PropagateMeasurement> paths = byPath(measurements);
    boolean writes = paths.stream().anyMatch(each -> !isRead(each));
    boolean loads = measurements.stream().anyMatch(PropagateSheet::isLoad);
    Columns<PropagateMeasurement> figures =
        new Columns<>(title + "; times in ms", paths).text("", PropagateMeasurement::path);
    add(figures, writes ? "seen" : "live", paths, PropagateMeasurement::latency, ALL_FIGURES);
    add(figures, "from begin", paths, PropagateMeasurement::service, FIGURES);
    add(figures, loads ? "live" : "test", paths, PropagateMeasurement::test, FIGURES);
    add(figures, "read", paths, PropagateMeasurement::snapshot, FIGURES);
    return figures
        .of("lost", Format::whole, PropagateMeasurement::lost)
        .of("doubled", Format::whole, PropagateMeasurement::doubled)
        .transposed();
  }

  /** Adds the figures of a latency if a path has this latency. */
  private static void add(
      Columns<PropagateMeasurement> columns,
      String name,
      List<PropagateMeasurement> paths,
      Function<PropagateMeasurement, @Nullable LatencySummary> of,
      List<String> figures) {
    if (paths.stream().map(of).noneMatch(Objects::nonNull)) {
      return;
    }
    columns
        .latencies(name, each -> counted(of.apply(each)), "n")
        .means(LEGENDS.getOrDefault(name, ""));
    figures.forEach(figure -> columns.latencies(name, each -> counted(of.apply(each)), figure));
  }

  private static @Nullable LatencySummary counted(@Nullable LatencySummary times) {
    return times == null || times.count() == 0 ? null : times;
  }
}
