package dev.onehop.jmh.check;

import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.regex.Pattern;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.profile.GCProfiler;
import org.openjdk.jmh.results.BenchmarkResult;
import org.openjdk.jmh.results.Result;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.ChainedOptionsBuilder;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;
import org.openjdk.jmh.runner.options.VerboseMode;

/**
 * One check of all bars. It runs the benchmark and the baseline of every bar in rounds, in
 * alternating JMH forks.
 *
 * <p>Other load makes a shared machine slow for minutes. The check therefore measures the benchmark
 * and its baseline within seconds of each other, several times, and the median of the ratios
 * counts. The check leaves out rounds that cannot change the result.
 */
final class Check {
  /** The name of the allocated bytes per operation in JMH's profiler. */
  private static final String ALLOCATED = "gc.alloc.rate.norm";

  /** The number of additional rounds before a bar counts as broken. */
  private static final int MORE_ROUNDS = 2;

  private final List<Comparison> bars;
  private final Consumer<String> progress;
  private final Map<Side, List<RunResult>> results = new LinkedHashMap<>();

  /**
   * Creates a check.
   *
   * @param bars at least one bar
   * @param progress receives a line for each fork
   */
  Check(List<Comparison> bars, Consumer<String> progress) {
    this.bars = bars;
    this.progress = progress;
  }

  /**
   * Runs the benchmarks and returns the result of every bar.
   *
   * @throws BarsException if a bar does not name exactly one value for each parameter of its
   *     benchmark
   * @throws RunnerException if a benchmark fails
   */
  List<BarResult> run() throws RunnerException {
    int most = bars.stream().mapToInt(Comparison::rounds).max().orElseThrow();
    for (int round = 0; round < most; round++) {
      int now = round;
      run(
          "round " + (round + 1),
          bars.stream().filter(bar -> bar.rounds() > now && !verdict(bar).isCertain()).toList());
    }
    List<BarResult> verdicts = verdicts();
    for (int round = 0; round < MORE_ROUNDS && !allHeld(verdicts); round++) {
      List<Comparison> broken =
          verdicts.stream().filter(v -> !v.held()).map(BarResult::bar).toList();
      run("again", broken);
      verdicts = verdicts();
    }
    return verdicts;
  }

  /**
   * All measurements, with one JMH result for each side. The forks of this result are the side's
   * rounds.
   */
  Collection<RunResult> results() {
    return results.values().stream().map(Check::merged).toList();
  }

  private static boolean allHeld(List<BarResult> verdicts) {
    return verdicts.stream().allMatch(BarResult::held);
  }

  private void run(String round, List<Comparison> due) throws RunnerException {
    Set<Side> sides = new LinkedHashSet<>();
    for (Comparison bar : due) {
      sides.add(bar.benchmark());
      sides.add(bar.baseline());
    }
    for (Side side : sides) {
      RunResult result = fork(side);
      results.computeIfAbsent(side, s -> new ArrayList<>()).add(result);
      progress.accept(
          String.format(
              Locale.ROOT,
              "%s: %s %.4g %s",
              round,
              side.benchmark(),
              result.getPrimaryResult().getScore(),
              result.getPrimaryResult().getScoreUnit()));
    }
  }

  private static RunResult fork(Side side) throws RunnerException {
    ChainedOptionsBuilder options =
        new OptionsBuilder()
            .include("^" + Pattern.quote(side.fullName()) + "$")
            .forks(1)
            .warmupIterations(side.warmup().iterations())
            .warmupTime(TimeValue.milliseconds(side.warmup().milliseconds()))
            .measurementIterations(side.measurement().iterations())
            .measurementTime(TimeValue.milliseconds(side.measurement().milliseconds()))
            .verbosity(VerboseMode.SILENT)
            .addProfiler(GCProfiler.class)
            .shouldFailOnError(true);
    side.parameters().forEach(options::param);
    Collection<RunResult> results;
    try {
      results = new Runner(options.build()).run();
    } catch (RunnerException e) {
      throw new RunnerException(side.benchmark() + " failed", e);
    }
    if (results.size() != 1) {
      throw new BarsException(
          "%s gave %d results; its @Bar must name one value for each parameter of the benchmark"
              .formatted(side.benchmark(), results.size()));
    }
    return results.iterator().next();
  }

  private List<BarResult> verdicts() {
    return bars.stream().map(this::verdict).toList();
  }

  private BarResult verdict(Comparison bar) {
    List<RunResult> fast = results.getOrDefault(bar.benchmark(), List.of());
    List<RunResult> base = results.getOrDefault(bar.baseline(), List.of());
    List<Double> ratios = new ArrayList<>();
    List<Double> moreBytes = new ArrayList<>();
    for (int i = 0; i < Math.min(fast.size(), base.size()); i++) {
      ratios.add(speed(fast.get(i)) / speed(base.get(i)));
      moreBytes.add(bytes(fast.get(i)) - bytes(base.get(i)));
    }
    return new BarResult(bar, ratios, moreBytes);
  }

  /** Returns the bytes that all threads allocated, per operation. */
  private static double bytes(RunResult result) {
    Result<?> bytes = result.getSecondaryResults().get(ALLOCATED);
    return bytes == null ? Double.NaN : bytes.getScore();
  }

  /**
   * Returns the operations per unit of time. Only JMH's mode throughput reports this figure. In
   * other modes, JMH reports the time of an operation, and this method returns its inverse.
   */
  private static double speed(RunResult result) {
    double score = result.getPrimaryResult().getScore();
    return result.getParams().getMode() == Mode.Throughput ? score : 1 / score;
  }

  private static RunResult merged(List<RunResult> rounds) {
    List<BenchmarkResult> forks = new ArrayList<>();
    rounds.forEach(round -> forks.addAll(round.getBenchmarkResults()));
    return new RunResult(Forks.of(rounds.get(0).getParams(), forks.size()), forks);
  }
}
