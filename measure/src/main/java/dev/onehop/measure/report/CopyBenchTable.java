package dev.onehop.measure.report;

import dev.onehop.measure.results.CopyBenchResults;
import dev.onehop.measure.results.CopyBenchResults.Beside;
import dev.onehop.measure.results.CopyBenchRun;
import dev.onehop.measure.results.LatencySummary;
import dev.onehop.measure.results.ResyncCell;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;

/**
 * A run of {@code onehop bench copy} or {@code bench verify} as text tables, and their rows for the
 * report.
 */
public final class CopyBenchTable {

  private static final List<String> COLUMNS =
      List.of(
          "what",
          "tool",
          "n",
          "docs/s",
          "least-most",
          "seconds",
          "start s",
          "by router/s",
          "spread %",
          "MiB",
          "moves",
          "equal");

  private static final List<String> COSTS =
      List.of("what", "tool", "process", "routers", "mongods", "in all");

  private static final List<String> LAGS =
      List.of("what", "tool", "n", "written/s", "lag p50", "p90", "p99", "p99.9", "max");

  private static final String NOTES =
      """
      docs/s: documents or changes per second, median of n rounds, from the first to the last hundredth that the
      destination's servers say they were given; start s: what comes before that. by router/s: statements that each router of the
      destination was sent, of all rounds; spread: between the busiest and the idlest, of their mean.
      process, routers, mongods: processor seconds per 1,000 documents, of the copying process, all routers, all other servers.
      MiB: the most memory (RSS) of the copying process. moves: ranges that were moved at the source meanwhile.
      lag: ms from when a write is issued at the source, that write included, until the destination's shard tells it.
      """;

  private static final String STAND_IN =
      "The routers are OneHop's stand-in, not mongos: what they cost is not what a mongos costs.";

  private static final String NO_RIVAL =
      "No other tool was given, so OneHop is beside the plain driver: see --rival.";

  private CopyBenchTable() {}

  /** The tables with notes, lines ending in newlines. */
  public static String render(CopyBenchResults results) {
    StringBuilder text =
        new StringBuilder("mongod ")
            .append(results.server().mongod())
            .append(", ")
            .append(ResultsTable.routerText(results.surroundings()))
            .append(", ")
            .append(Format.count(results.run().records()))
            .append(" ")
            .append(results.run().workload())
            .append("\n");
    if (results.run().processors() != null) {
      text.append("processors: ").append(results.run().processors()).append('\n');
    }
    text.append('\n');
    tables(results)
        .forEach(
            rows -> {
              int[] widths = ResultsTable.widths(rows);
              rows.forEach(row -> text.append(ResultsTable.line(row, widths)).append('\n'));
              text.append('\n');
            });
    text.append(NOTES).append('\n');
    sentences(results).forEach(sentence -> text.append(sentence).append('\n'));
    return text.toString();
  }

  static String notes() {
    return NOTES;
  }

  /** Those that have rows, each with the columns' names first: rates, costs, lags. */
  static List<List<List<String>>> tables(CopyBenchResults results) {
    List<List<List<String>>> tables = new ArrayList<>();
    tables.add(rows(results, COLUMNS, CopyBenchTable::rates, false));
    tables.add(rows(results, COSTS, CopyBenchTable::costs, false));
    tables.add(rows(results, LAGS, CopyBenchTable::lags, true));
    tables.removeIf(rows -> rows.size() == 1);
    return tables;
  }

  private static List<List<String>> rows(
      CopyBenchResults results,
      List<String> columns,
      Function<List<CopyBenchRun>, List<String>> row,
      boolean ofLags) {
    List<List<String>> rows = new ArrayList<>();
    rows.add(columns);
    for (String title : results.titles()) {
      for (ToolLook look : ToolLook.of(results.tools())) {
        List<CopyBenchRun> runs = results.runs(title, look.tool());
        if (!runs.isEmpty() && runs.get(0).kind().equals(CopyBenchRun.LAG) == ofLags) {
          rows.add(row.apply(runs));
        }
      }
    }
    return rows;
  }

  private static List<String> rates(List<CopyBenchRun> runs) {
    return List.of(
        runs.get(0).title(),
        runs.get(0).tool(),
        String.valueOf(runs.size()),
        Format.rate(median(runs, CopyBenchRun::documentsPerSecond)),
        Format.rate(least(runs, CopyBenchRun::documentsPerSecond))
            + "-"
            + Format.rate(most(runs, CopyBenchRun::documentsPerSecond)),
        decimal(median(runs, CopyBenchRun::seconds)),
        decimal(median(runs, CopyBenchRun::startSeconds)),
        byRouter(runs),
        Format.percent(spread(runs)),
        Format.count(runs.stream().mapToLong(CopyBenchRun::memoryBytes).max().orElse(0) >> 20),
        String.valueOf(runs.stream().mapToInt(CopyBenchRun::moves).sum()),
        runs.stream().allMatch(CopyBenchRun::verified) ? "yes" : "NO");
  }

  private static String byRouter(List<CopyBenchRun> runs) {
    double seconds = runs.stream().mapToDouble(CopyBenchRun::seconds).sum();
    List<String> rates = new ArrayList<>();
    for (String router : runs.get(0).perRouter().keySet()) {
      rates.add(
          Format.rate(
              runs.stream()
                      .mapToDouble(run -> run.perRouter().getOrDefault(router, 0.0) * run.seconds())
                      .sum()
                  / seconds));
    }
    return rates.isEmpty() ? Format.NONE : String.join(" ", rates);
  }

  private static @Nullable Double spread(List<CopyBenchRun> runs) {
    List<CopyBenchRun> routed = runs.stream().filter(run -> run.routerSpread() != null).toList();
    return routed.isEmpty()
        ? null
        : (Double) median(routed, run -> Objects.requireNonNull(run.routerSpread()));
  }

  private static List<String> costs(List<CopyBenchRun> runs) {
    return List.of(
        runs.get(0).title(),
        runs.get(0).tool(),
        cost(runs, CopyBenchRun::toolCpuSeconds),
        cost(runs, CopyBenchRun::routersCpuSeconds),
        cost(runs, CopyBenchRun::serversCpuSeconds),
        String.format(Locale.ROOT, "%.3f", median(runs, CopyBenchRun::cpuPer1000)));
  }

  private static String cost(List<CopyBenchRun> runs, ToDoubleFunction<CopyBenchRun> seconds) {
    return String.format(
        Locale.ROOT,
        "%.3f",
        median(runs, run -> seconds.applyAsDouble(run) * 1_000 / Math.max(1, run.documents())));
  }

  private static List<String> lags(List<CopyBenchRun> runs) {
    List<String> row =
        new ArrayList<>(
            List.of(
                runs.get(0).title(),
                runs.get(0).tool(),
                String.valueOf(runs.size()),
                Format.rate(median(runs, CopyBenchRun::documentsPerSecond))));
    for (ToDoubleFunction<LatencySummary> figure :
        List.<ToDoubleFunction<LatencySummary>>of(
            LatencySummary::p50,
            LatencySummary::p90,
            LatencySummary::p99,
            LatencySummary::p999,
            LatencySummary::max)) {
      row.add(Format.millis(median(runs, run -> lag(run, figure))));
    }
    return row;
  }

  static double lag(CopyBenchRun run, ToDoubleFunction<LatencySummary> figure) {
    return run.lag() == null ? 0 : figure.applyAsDouble(run.lag());
  }

  static double median(List<CopyBenchRun> runs, ToDoubleFunction<CopyBenchRun> figure) {
    return ResyncCell.median(runs.stream().map(figure::applyAsDouble).toList());
  }

  static double least(List<CopyBenchRun> runs, ToDoubleFunction<CopyBenchRun> figure) {
    return runs.stream().mapToDouble(figure).min().orElse(0);
  }

  static double most(List<CopyBenchRun> runs, ToDoubleFunction<CopyBenchRun> figure) {
    return runs.stream().mapToDouble(figure).max().orElse(0);
  }

  private static String decimal(double value) {
    return String.format(Locale.ROOT, "%,.1f", value);
  }

  /** What comparing the tools says, one for each of what was measured. */
  static List<String> sentences(CopyBenchResults results) {
    List<String> sentences = new ArrayList<>();
    for (String title : results.titles()) {
      for (ToolLook look : ToolLook.of(results.tools())) {
        sentence(results, title, look).ifPresent(sentences::add);
      }
    }
    if (results.tools().contains(CopyBenchRun.DRIVER)) {
      sentences.add(NO_RIVAL);
    }
    if (results.server().router().isStandIn()) {
      sentences.add(STAND_IN);
    }
    return sentences;
  }

  private static Optional<String> sentence(CopyBenchResults results, String title, ToolLook look) {
    if (look == ToolLook.ONEHOP) {
      return Optional.empty();
    }
    boolean lag =
        results.runs(title, CopyBenchRun.ONEHOP).stream().anyMatch(run -> run.lag() != null);
    return results
        .ratio(
            title,
            look.tool(),
            lag ? run -> lag(run, LatencySummary::p99) : CopyBenchRun::documentsPerSecond)
        .map(
            beside ->
                "%s: OneHop has %s the %s of %s (%s)%s."
                    .formatted(
                        title,
                        times(beside.ratio()),
                        lag ? "p99" : "documents per second",
                        look == ToolLook.DRIVER
                            ? "the plain driver through one mongos"
                            : look.label(),
                        interval(beside),
                        lag ? "" : cost(results, title, look.tool())));
  }

  private static String cost(CopyBenchResults results, String title, String other) {
    return results
        .ratio(title, other, CopyBenchRun::cpuPer1000)
        .map(
            beside ->
                ", for %s its processor time, servers included (%s)"
                    .formatted(times(beside.ratio()), interval(beside)))
        .orElse("");
  }

  private static String times(double ratio) {
    return String.format(Locale.ROOT, "%.2f times", ratio);
  }

  private static String interval(Beside beside) {
    return beside.low() == null || beside.high() == null
        ? String.format(
            Locale.ROOT,
            "%.2f to %.2f in %d %s",
            beside.least(),
            beside.most(),
            beside.rounds(),
            beside.rounds() == 1 ? "round" : "rounds")
        : String.format(
            Locale.ROOT,
            "95 %% interval %.2f to %.2f, %d rounds",
            beside.low(),
            beside.high(),
            beside.rounds());
  }
}
