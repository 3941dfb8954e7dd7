package dev.onehop.measure.delivery;

import java.util.List;

/**
 * The report of a consumer process between opening and closing its stream.
 *
 * @param openedMicros when it started to open the stream, in microseconds since 1970
 * @param lastMicros when it took the last row that was new to it; {@code openedMicros} if none
 * @param rows the number of rows that have arrived, each version once
 * @param doubled see {@link RowChecker#doubled}
 * @param outOfOrder see {@link RowChecker#outOfOrder}
 * @param negative the number of lags below zero, 0 unless a clock was set
 * @param samples resource use and progress, a few times a second
 */
record ConsumerReport(
    long openedMicros,
    long lastMicros,
    long rows,
    long doubled,
    long outOfOrder,
    long negative,
    List<Sample> samples) {

  /** In JSON without samples the list is missing. */
  ConsumerReport {
    samples = samples == null ? List.of() : List.copyOf(samples);
  }

  /**
   * A sample.
   *
   * @param micros its time, in microseconds since 1970
   * @param cpuNanos processor time of the process so far
   * @param memoryBytes memory of the process that is in use (RSS); 0 if unknown
   * @param rows events of the run's rows so far
   * @param eventBytes bytes of these events so far
   */
  record Sample(long micros, long cpuNanos, long memoryBytes, long rows, long eventBytes) {}
}
