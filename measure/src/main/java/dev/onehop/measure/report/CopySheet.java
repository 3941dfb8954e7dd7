package dev.onehop.measure.report;

import dev.onehop.measure.report.LineChart.Spot;
import dev.onehop.measure.results.Bootstrap;
import dev.onehop.measure.results.CopyBenchResults;
import dev.onehop.measure.results.CopyBenchRun;
import dev.onehop.measure.results.LatencySummary;
import dev.onehop.measure.results.ResyncCell;
import dev.onehop.measure.results.RunFacts;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The sheet of {@code onehop bench copy} and {@code bench verify}: OneHop compared with other
 * tools.
 */
record CopySheet(CopyBenchResults results) {

  Sheet sheet() {
    Sheet sheet =
        new Sheet(
            "OneHop copy, compared with other tools",
            results,
            "The errors of the copying processes are under logs/.");
    sheet.notice(isSaturated(results.points()) ? Load.NOTICE : "");
    for (String title : results.titles()) {
      rivals().forEach(other -> compare(sheet, title, other));
      if (rivals().isEmpty()) {
        sheet.say(
            "%s: %s documents per second with OneHop."
                .formatted(
                    title,
                    Format.rate(
                        median(
                            results.runs(title, CopyBenchRun.ONEHOP),
                            CopyBenchRun::documentsPerSecond))));
      }
    }
    if (results.tools().contains(CopyBenchRun.DRIVER)) {
      sheet.limit(
          "No other tool was named with --rival, so OneHop is compared with the plain driver.");
    }
    RunFacts run = results.run();
    if (run != null && run.load().rounds() == 1) {
      sheet.limit(
          "Everything was measured once (n = 1), so differences of about 10 % can be chance.");
    }
    return sheet.add(speed()).add(costs()).add(lags());
  }

  private Load load(CopyBenchRun run) {
    return Load.cores(run.cores(), results.machine());
  }

  private List<String> rivals() {
    return results.tools().stream().filter(tool -> !tool.equals(CopyBenchRun.ONEHOP)).toList();
  }

  private static String name(String tool) {
    return tool.equals(CopyBenchRun.DRIVER)
        ? "the plain driver through one mongos"
        : tool.equals("pcsm") ? "Percona ClusterSync" : tool;
  }

  /** Compares OneHop with another tool in one measurement. */
  private void compare(Sheet sheet, String title, String other) {
    List<CopyBenchRun> ours = results.runs(title, CopyBenchRun.ONEHOP);
    List<CopyBenchRun> theirs = results.runs(title, other);
    boolean lag = ours.stream().anyMatch(run -> run.lag() != null);
    ToDoubleFunction<CopyBenchRun> figure =
        lag ? run -> lag(run, "p99") : CopyBenchRun::documentsPerSecond;
    Bootstrap beside = results.ratio(title, other, figure).orElse(null);
    if (beside == null) {
      return;
    }
    String verdict =
        lag
            ? "the p99 of OneHop is " + Verdict.shorter(beside.ratio(), 1) + " that of "
            : "OneHop is " + Verdict.faster(beside.ratio(), beside.low(), beside.high(), "") + " ";
    sheet.say(
        Load.qualified(
            title
                + ": "
                + verdict
                + name(other)
                + interval(beside)
                + (lag ? "" : cost(title, other))
                + ".",
            lag ? Stream.of(ours, theirs).flatMap(List::stream).map(this::load) : Stream.of()));
    Function<Double, String> format =
        lag ? value -> Format.millis(value) + " ms" : value -> Format.rate(value) + "/s";
    sheet.figure(
        format.apply(median(ours, figure)),
        title + (lag ? ": lag, p99" : ""),
        format.apply(median(theirs, figure)) + " by " + name(other));
  }

  private String cost(String title, String other) {
    return results
        .ratio(title, other, CopyBenchRun::cpuPer1000)
        .map(
            beside ->
                ", and takes %s times as much processor time, servers included%s"
                    .formatted(Verdict.times(beside.ratio()), interval(beside)))
        .orElse("");
  }

  /**
   * Returns the ratio with its interval. With few rounds, the text has the smallest and the largest
   * ratio in place of the interval. With one round, the text is empty.
   */
  private static String interval(Bootstrap beside) {
    return beside.rounds() == 1
        ? ""
        : beside.low() == null
            ? " (ratio %s; from %s to %s in %d rounds)"
                .formatted(
                    Format.hundredths(beside.ratio()),
                    Format.hundredths(beside.least()),
                    Format.hundredths(beside.most()),
                    beside.rounds())
            : " (ratio %s; 95 %% interval %s to %s, %d rounds)"
                .formatted(
                    Format.hundredths(beside.ratio()),
                    Format.hundredths(beside.low()),
                    Format.hundredths(beside.high()),
                    beside.rounds());
  }

  /** A row of a table: the runs of a tool in one measurement. */
  private record Row(String title, String tool, List<CopyBenchRun> runs) {
    double median(ToDoubleFunction<CopyBenchRun> figure) {
      return CopySheet.median(runs, figure);
    }
  }

  private List<Row> rows(boolean ofLags) {
    List<Row> rows = new ArrayList<>();
    for (String title : results.titles()) {
      for (String tool : results.tools()) {
        List<CopyBenchRun> runs = results.runs(title, tool);
        if (!runs.isEmpty() && runs.get(0).kind().equals(CopyBenchRun.LAG) == ofLags) {
          rows.add(new Row(title, tool, runs));
        }
      }
    }
    return rows;
  }

  private Columns<Row> head(String caption, boolean ofLags) {
    return new Columns<>(caption, rows(ofLags))
        .text("what", Row::title)
        .text("tool", row -> row.tool() + (isSaturated(row.runs()) ? ", saturated" : ""));
  }

  private boolean isSaturated(List<CopyBenchRun> runs) {
    return runs.stream().map(this::load).anyMatch(Load::isSaturated);
  }

  private Section speed() {
    Section section = new Section("time", "Documents per second");
    results.titles().forEach(title -> section.chart(chart(title)));
    return section.table(
        head("", false)
            .of("n", Format::whole, row -> row.runs().size())
            .of("docs/s", Format::rate, row -> row.median(CopyBenchRun::documentsPerSecond))
            .means(
                "documents or changes per second, median of n rounds, by the write counters of the"
                    + " destination's servers. The first and the last 1 % of the writes do not"
                    + " count")
            .text("least-most", CopySheet::range)
            .missingIf("n = 1")
            .of("seconds", Format::decimal, row -> row.median(CopyBenchRun::seconds))
            .of("start s", Format::decimal, row -> row.median(CopyBenchRun::startSeconds))
            .means("the time until 1 % of the writes were done")
            .text("by router/s", row -> byRouter(row.runs()))
            .means("statements per second at each router of the destination, mean over all rounds")
            .missingIf("no routers")
            .of("spread %", Format::percent, row -> spread(row.runs()))
            .means("the difference between the busiest and the least busy router, in % of the mean")
            .of("MiB", Format::whole, row -> memory(row.runs()) >> 20)
            .means("the largest memory (RSS) of the copying process")
            .of(
                "moves",
                Format::whole,
                row -> row.runs().stream().mapToInt(CopyBenchRun::moves).sum())
            .means("migrations at the source during the copy")
            .text(
                "equal", row -> Format.yes(row.runs().stream().allMatch(CopyBenchRun::verified))));
  }

  private static String range(Row row) {
    return Format.range(
        row.runs().stream().map(CopyBenchRun::documentsPerSecond).toList(), Format::rate);
  }

  private static long memory(List<CopyBenchRun> runs) {
    return runs.stream().mapToLong(CopyBenchRun::memoryBytes).max().orElse(0);
  }

  private static String byRouter(List<CopyBenchRun> runs) {
    double seconds = runs.stream().mapToDouble(CopyBenchRun::seconds).sum();
    Map<String, Double> statements = new LinkedHashMap<>();
    for (CopyBenchRun run : runs) {
      run.perRouter()
          .forEach((router, rate) -> statements.merge(router, rate * run.seconds(), Double::sum));
    }
    return statements.isEmpty()
        ? Format.NONE
        : String.join(
            " ", statements.values().stream().map(sum -> Format.rate(sum / seconds)).toList());
  }

  private static @Nullable Double spread(List<CopyBenchRun> runs) {
    List<CopyBenchRun> routed = runs.stream().filter(run -> run.routerSpread() != null).toList();
    return routed.isEmpty()
        ? null
        : (Double) median(routed, run -> Objects.requireNonNull(run.routerSpread()));
  }

  private Section costs() {
    return new Section("costs", "Processor time")
        .table(
            head("Processor seconds per 1,000 documents", false)
                .of("process", Format::thousandths, cost(CopyBenchRun::toolCpuSeconds))
                .means("the copying process")
                .of("routers", Format::thousandths, cost(CopyBenchRun::routersCpuSeconds))
                .means("all routers")
                .of("mongods", Format::thousandths, cost(CopyBenchRun::serversCpuSeconds))
                .means("all other servers")
                .of("in total", Format::thousandths, row -> row.median(CopyBenchRun::cpuPer1000)));
  }

  private static Function<Row, Double> cost(ToDoubleFunction<CopyBenchRun> seconds) {
    return row ->
        row.median(run -> seconds.applyAsDouble(run) * 1_000 / Math.max(1, run.documents()));
  }

  private Section lags() {
    Columns<Row> columns =
        head("Lag in milliseconds", true)
            .of("n", Format::whole, row -> row.runs().size())
            .of("written/s", Format::rate, row -> row.median(CopyBenchRun::documentsPerSecond))
            .of("lag p50", Format::millis, row -> row.median(run -> lag(run, "p50")))
            .means(
                "from the issue of a write at the source until a shard of the destination reports"
                    + " this write");
    for (String figure : List.of("p90", "p99", "p99.9", "max")) {
      columns.of(figure, Format::millis, row -> row.median(run -> lag(run, figure)));
    }
    return new Section("lag", "Lag").table(columns);
  }

  private static double lag(CopyBenchRun run, String figure) {
    LatencySummary lag = run.lag();
    return lag == null ? 0 : lag.figure(figure);
  }

  private static double median(List<CopyBenchRun> runs, ToDoubleFunction<CopyBenchRun> figure) {
    return ResyncCell.median(runs.stream().map(figure::applyAsDouble).toList());
  }

  private LineChart chart(String title) {
    List<CopyBenchRun> runs =
        results.points().stream()
            .filter(run -> run.title().equals(title) && run.series().size() > 1)
            .toList();
    LineChart chart =
        new LineChart(
            title + ": documents per second by time, each round",
            Axis.seconds(runs.stream().mapToInt(run -> run.series().size()).max().orElse(1)),
            "documents per second",
            false);
    for (CopyBenchRun run : runs) {
      List<Spot> spots = new ArrayList<>();
      run.series().forEach(rate -> spots.add(new Spot(spots.size() + 0.5, rate)));
      chart.line(LineStyle.of(run.tool()), spots);
    }
    return chart;
  }
}
