package dev.onehop.measure.points;

import dev.onehop.measure.frame.BenchCluster;
import dev.onehop.measure.frame.Sampler;
import dev.onehop.measure.frame.Sampler.Sample;
import dev.onehop.measure.results.Conditions;
import dev.onehop.measure.results.CpuPerOperation;
import dev.onehop.testbed.evidence.CpuTimes;
import java.time.Duration;
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
        microsPerOperation(within, summary, Reading::client),
        microsPerOperation(within, summary, reading -> reading.times.routers()),
        microsPerOperation(within, summary, reading -> reading.times.mongods()),
        microsPerOperation(within, summary, reading -> reading.times.links()));
  }

  private static @Nullable Double microsPerOperation(
      List<Sample<Reading>> within,
      RunSummary summary,
      Function<Reading, @Nullable Duration> time) {
    return perOperation(
        within,
        summary,
        10,
        reading -> {
          Duration used = time.apply(reading);
          return used == null ? null : (Double) (used.toNanos() / 1e3);
        });
  }

  /** Returns the conditions of a measurement. */
  static Conditions conditions(List<Sample<Reading>> samples, RunSummary summary) {
    List<Sample<Reading>> within = within(samples, summary);
    return new Conditions(
        steal(within),
        rounded(
            mean(
                within,
                reading -> reading.machine == null ? null : (double) reading.machine.running()),
            10),
        rounded(mean(within, Reading::clockMegahertz), 1),
        within.stream()
            .map(sample -> sample.value().sockets())
            .filter(Objects::nonNull)
            .max(Integer::compare)
            .orElse(null),
        perOperation(
            within,
            summary,
            1,
            reading -> reading.bytes == null ? null : (Double) reading.bytes.doubleValue()),
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
    return total <= 0 ? null : rounded((double) (last.steal() - first.steal()) / total, 10_000);
  }

  private static @Nullable Double perOperation(
      List<Sample<Reading>> within,
      RunSummary summary,
      double unit,
      Function<Reading, @Nullable Double> value) {
    // Some readings have no value, because the client's process ends with the window.
    List<Sample<Double>> known =
        within.stream()
            .map(sample -> new Sample<>(sample.nanos(), value.apply(sample.value())))
            .filter(sample -> sample.value() != null)
            .toList();
    if (known.size() < 2 || summary.operations() == 0) {
      return null;
    }
    Sample<Double> first = known.get(0);
    Sample<Double> last = known.get(known.size() - 1);
    double operations = summary.perSecond() * (last.nanos() - first.nanos()) / 1e9;
    return rounded((last.value() - first.value()) / operations, unit);
  }

  private static @Nullable Double mean(
      List<Sample<Reading>> samples, Function<Reading, @Nullable Double> of) {
    OptionalDouble mean =
        samples.stream()
            .map(sample -> of.apply(sample.value()))
            .filter(Objects::nonNull)
            .mapToDouble(value -> value)
            .average();
    return mean.isPresent() ? (Double) mean.getAsDouble() : null;
  }

  private static @Nullable Double rounded(@Nullable Double value, double unit) {
    return value == null ? null : (Double) (Math.round(value * unit) / unit);
  }
}
