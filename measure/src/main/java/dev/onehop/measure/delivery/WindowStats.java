package dev.onehop.measure.delivery;

import dev.onehop.measure.delivery.ConsumerReport.Sample;
import dev.onehop.measure.frame.Sampler;
import java.util.ArrayList;
import java.util.List;
import java.util.function.ToLongFunction;

/**
 * Figures of consumers in a window of time. They are interpolated between the consumers' samples.
 *
 * @param reports the reports of all consumers
 * @param fromMicros the start of the window, in microseconds since 1970
 * @param toMicros the end of the window; one microsecond after its start at least
 * @param toTheEnd whether the window ends with the consumers' last row. The consumers do no work
 *     after this row, so the first sample after the window has the figures of the window's end
 */
record WindowStats(List<ConsumerReport> reports, long fromMicros, long toMicros, boolean toTheEnd) {

  private static final long WINDOW_MICROS = 5_000_000;

  /** The shortest last window in microseconds. A shorter last window is left out. */
  private static final long LEAST_WINDOW_MICROS = 1_000_000;

  WindowStats {
    toMicros = Math.max(toMicros, fromMicros + 1);
  }

  /** Creates figures of a window that ends at any time. */
  WindowStats(List<ConsumerReport> reports, long fromMicros, long toMicros) {
    this(reports, fromMicros, toMicros, false);
  }

  /**
   * Returns the window of a drain: from the time when the first consumer opened its stream until
   * the last row of all consumers.
   */
  static WindowStats drain(List<ConsumerReport> reports) {
    return new WindowStats(
        reports,
        reports.stream().mapToLong(ConsumerReport::openedMicros).min().orElse(0),
        reports.stream().mapToLong(ConsumerReport::lastMicros).max().orElse(0),
        true);
  }

  double seconds() {
    return (toMicros - fromMicros) / 1e6;
  }

  double rowsPerSecond() {
    return sum(Sample::rows, fromMicros, toMicros) / seconds();
  }

  double bytesPerSecond() {
    return sum(Sample::eventBytes, fromMicros, toMicros) / seconds();
  }

  /** The number of processors that the consumers kept busy. */
  double cores() {
    return sum(Sample::cpuNanos, fromMicros, toMicros) / 1e9 / seconds();
  }

  /** The sum of each consumer's largest memory use, in bytes. */
  long memoryBytes() {
    return reports.stream()
        .mapToLong(
            report -> report.samples().stream().mapToLong(Sample::memoryBytes).max().orElse(0))
        .sum();
  }

  /** The number of lags below zero. */
  long negativeLags() {
    return reports.stream().mapToLong(ConsumerReport::negative).sum();
  }

  /** The rows per second in each interval of five seconds. */
  List<Double> windows() {
    List<Double> windows = new ArrayList<>();
    for (long from = fromMicros; from < toMicros; from += WINDOW_MICROS) {
      long to = Math.min(from + WINDOW_MICROS, toMicros);
      if (to - from >= LEAST_WINDOW_MICROS || windows.isEmpty()) {
        windows.add(Math.round(sum(Sample::rows, from, to) * 1e7 / (to - from)) / 10.0);
      }
    }
    return windows;
  }

  private double sum(ToLongFunction<Sample> figure, long from, long to) {
    return reports.stream()
        .map(ConsumerReport::samples)
        .filter(samples -> !samples.isEmpty())
        .mapToDouble(samples -> at(samples, figure, end(samples, to)) - at(samples, figure, from))
        .sum();
  }

  private long end(List<Sample> samples, long micros) {
    return toTheEnd && micros == toMicros
        ? samples.stream()
            .mapToLong(Sample::micros)
            .filter(at -> at >= micros)
            .findFirst()
            .orElse(micros)
        : micros;
  }

  private static double at(List<Sample> samples, ToLongFunction<Sample> figure, long micros) {
    return Sampler.at(samples, Sample::micros, (double) micros, figure::applyAsLong);
  }
}
