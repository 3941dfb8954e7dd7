package dev.onehop.measure.delivery;

import java.util.List;

/**
 * What a consumer process found between opening and closing its stream.
 *
 * @param openedMicros when it began to open the stream, in microseconds since 1970
 * @param lastMicros when it took the last row that was new to it; {@code openedMicros} if none
 * @param rows rows that it has seen, each version once
 * @param doubled see {@link RowChecker#doubled}
 * @param outOfOrder see {@link RowChecker#outOfOrder}
 * @param negative lags below zero, of which there are none unless a clock was set
 * @param samples what it had used and done by then, a few times a second
 */
record ConsumerReport(
    long openedMicros,
    long lastMicros,
    long rows,
    long doubled,
    long outOfOrder,
    long negative,
    List<Sample> samples) {

  /** Samples that were left out are none. */
  ConsumerReport {
    samples = samples == null ? List.of() : List.copyOf(samples);
  }

  /**
   * A sample.
   *
   * @param micros when, in microseconds since 1970
   * @param cpuNanos processor time of the process so far
   * @param memoryBytes memory of the process that is in use (RSS); 0 where that is not known
   * @param rows events taken so far, those of the run's rows
   * @param eventBytes bytes of these events so far
   */
  record Sample(long micros, long cpuNanos, long memoryBytes, long rows, long eventBytes) {}
}
