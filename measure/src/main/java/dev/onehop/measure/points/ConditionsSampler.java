package dev.onehop.measure.points;

import dev.onehop.measure.results.Conditions;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.OptionalDouble;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** What the machine, the client's sockets and the links showed over time. Thread-safe. */
final class ConditionsSampler {

  /**
   * Each is null if it is not known.
   *
   * @param nanos when, by {@link System#nanoTime}
   * @param sockets the client's connections
   * @param bytes that links have carried so far
   */
  record Sample(
      long nanos,
      @Nullable ProcStat machine,
      @Nullable Double clockMegahertz,
      @Nullable Integer sockets,
      @Nullable Long bytes) {}

  private final List<Sample> samples = new ArrayList<>();

  /** Adds a sample, later than those before. */
  synchronized void add(Sample sample) {
    samples.add(sample);
  }

  /** What was seen while a run was measured. */
  synchronized Conditions during(RunSummary summary) {
    List<Sample> within =
        samples.stream()
            .filter(s -> s.nanos() - summary.firstOperationNanos() >= 0)
            .filter(s -> s.nanos() - summary.lastOperationNanos() <= 0)
            .toList();
    return new Conditions(
        steal(within),
        rounded(mean(within, s -> s.machine() == null ? null : (double) s.machine().running()), 10),
        rounded(mean(within, Sample::clockMegahertz), 1),
        within.stream()
            .map(Sample::sockets)
            .filter(Objects::nonNull)
            .max(Integer::compare)
            .orElse(null),
        rounded(bytesPerOperation(within, summary), 1),
        summary.warmupSeconds(),
        summary.steady(),
        summary.error(),
        summary.windows());
  }

  private static @Nullable Double steal(List<Sample> samples) {
    List<ProcStat> known = samples.stream().map(Sample::machine).filter(Objects::nonNull).toList();
    if (known.size() < 2) {
      return null;
    }
    ProcStat first = known.get(0);
    ProcStat last = known.get(known.size() - 1);
    long total = last.total() - first.total();
    return total <= 0 ? null : rounded((double) (last.steal() - first.steal()) / total, 10_000);
  }

  private static @Nullable Double bytesPerOperation(List<Sample> samples, RunSummary summary) {
    List<Sample> known = samples.stream().filter(s -> s.bytes() != null).toList();
    if (known.size() < 2 || summary.operations() == 0) {
      return null;
    }
    Sample first = known.get(0);
    Sample last = known.get(known.size() - 1);
    double operations =
        summary.operations() / summary.measuredSeconds() * (last.nanos() - first.nanos()) / 1e9;
    long bytes = Objects.requireNonNull(last.bytes()) - Objects.requireNonNull(first.bytes());
    return bytes / operations;
  }

  private static @Nullable Double mean(
      List<Sample> samples, Function<Sample, @Nullable Double> of) {
    OptionalDouble mean =
        samples.stream().map(of).filter(Objects::nonNull).mapToDouble(v -> v).average();
    return mean.isPresent() ? (Double) mean.getAsDouble() : null;
  }

  private static @Nullable Double rounded(@Nullable Double value, double unit) {
    return value == null ? null : (Double) (Math.round(value * unit) / unit);
  }
}
