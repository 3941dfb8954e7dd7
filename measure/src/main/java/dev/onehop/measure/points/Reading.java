package dev.onehop.measure.points;

import dev.onehop.measure.frame.BenchCluster;
import dev.onehop.measure.frame.Sampler;
import dev.onehop.measure.frame.Sampler.Sample;
import dev.onehop.measure.results.Conditions;
import dev.onehop.measure.results.CpuPerOperation;
import dev.onehop.testbed.evidence.CpuTimes;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.OptionalDouble;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The resource use of clients, servers, links and the machine up to a moment. A field is null if it
 * is unknown. A figure per operation is the difference between the first and the last reading of
 * the measured time, divided by the operations between these two readings. The start and the end of
 * a process do not count.
 *
 * @param client the processor time of the clients
 * @param times the processor times of servers and links
 * @param sockets the number of the clients' connections
 * @param bytes the bytes that passed through links
 */
record Reading(
    @Nullable Duration client,
    CpuTimes times,
    @Nullable ProcStat machine,
    @Nullable Double clockMegahertz,
    @Nullable Integer sockets,
    @Nullable Long bytes) {

  private static final Duration INTERVAL = Duration.ofMillis(250);

  /**
   * Starts to take readings.
   *
   * @param clients the running clients
   */
  static Sampler<Reading> start(BenchCluster cluster, YcsbClients.Running clients) {
    return Sampler.start(
        INTERVAL,
        () ->
            new Reading(
                clients.cpuTime(),
                cluster.cpuTimes(),
                ProcStat.now(),
                ProcStat.clockMegahertz(),
                clients.connections(),
                cluster.linkBytes()));
  }

  /** Returns the processor time per operation; null if there are too few readings. */
  static @Nullable CpuPerOperation cpuPerOperation(
      List<Sample<Reading>> samples, RunSummary summary) {
    List<Sample<Reading>> within = within(samples, summary);
    if (within.size() < 2 || summary.operations() == 0) {
      return null;
    }
    return new CpuPerOperation(
        perOperation(within, summary, 10, reading -> micros(reading.client)),
        perOperation(within, summary, 10, reading -> micros(reading.times.routers())),
        perOperation(within, summary, 10, reading -> micros(reading.times.mongods())),
        perOperation(within, summary, 10, reading -> micros(reading.times.links())));
  }

  private static @Nullable Number micros(@Nullable Duration time) {
    return time == null ? null : (Number) (time.toNanos() / 1e3);
  }

  /** Returns the conditions of a measurement. */
  static Conditions conditions(List<Sample<Reading>> samples, RunSummary summary) {
    List<Sample<Reading>> within = within(samples, summary);
    return new Conditions(
        steal(within),
        mean(within, 10, reading -> reading.machine == null ? null : reading.machine.running()),
        mean(within, 1, Reading::clockMegahertz),
        within.stream()
            .map(sample -> sample.value().sockets())
            .filter(Objects::nonNull)
            .max(Integer::compare)
            .orElse(null),
        perOperation(within, summary, 1, Reading::bytes),
        summary.warmupSeconds(),
        summary.steady(),
        summary.error(),
        summary.windows());
  }

  private static List<Sample<Reading>> within(List<Sample<Reading>> samples, RunSummary summary) {
    return samples.stream()
        .filter(sample -> sample.nanos() - summary.firstOperationNanos() >= 0)
        .filter(sample -> sample.nanos() - summary.lastOperationNanos() <= 0)
        .toList();
  }

  private static @Nullable Double steal(List<Sample<Reading>> within) {
    List<ProcStat> known =
        within.stream().map(sample -> sample.value().machine()).filter(Objects::nonNull).toList();
    if (known.size() < 2) {
      return null;
    }
    ProcStat first = known.get(0);
    ProcStat last = known.get(known.size() - 1);
    long total = last.total() - first.total();
    return total <= 0
        ? null
        : (Double) rounded((double) (last.steal() - first.steal()) / total, 10_000);
  }

  /**
   * Returns the known values of a figure. Some readings have no value, because the client's process
   * ends with the window.
   */
  private static List<Sample<Double>> known(
      List<Sample<Reading>> within, Function<Reading, ? extends @Nullable Number> figure) {
    List<Sample<Double>> known = new ArrayList<>();
    for (Sample<Reading> sample : within) {
      Number value = figure.apply(sample.value());
      if (value != null) {
        known.add(new Sample<>(sample.nanos(), value.doubleValue()));
      }
    }
    return known;
  }

  private static @Nullable Double perOperation(
      List<Sample<Reading>> within,
      RunSummary summary,
      double unit,
      Function<Reading, ? extends @Nullable Number> figure) {
    List<Sample<Double>> known = known(within, figure);
    if (known.size() < 2 || summary.operations() == 0) {
      return null;
    }
    Sample<Double> first = known.get(0);
    Sample<Double> last = known.get(known.size() - 1);
    double operations = summary.perSecond() * (last.nanos() - first.nanos()) / 1e9;
    return rounded((last.value() - first.value()) / operations, unit);
  }

  private static @Nullable Double mean(
      List<Sample<Reading>> within,
      double unit,
      Function<Reading, ? extends @Nullable Number> figure) {
    OptionalDouble mean = known(within, figure).stream().mapToDouble(Sample::value).average();
    return mean.isPresent() ? (Double) rounded(mean.getAsDouble(), unit) : null;
  }

  private static double rounded(double value, double unit) {
    return Math.round(value * unit) / unit;
  }
}
