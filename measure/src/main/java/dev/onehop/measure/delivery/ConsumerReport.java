package dev.onehop.measure.delivery;

import java.util.List;

/**
 * The report of a consumer process about the time from the opening to the closing of its stream.
 *
 * @param openedMicros the time when the process began to open the stream, in microseconds since
 *     1970
 * @param lastMicros the arrival time of the last new row, in microseconds since 1970; {@code
 *     openedMicros} if no row arrived
 * @param rows the number of versions of rows that have arrived, each counted once
 * @param doubled see {@link RowChecker#doubled}
 * @param outOfOrder see {@link RowChecker#outOfOrder}
 * @param negative the number of lags below zero, which occur only if a clock was set
 * @param samples the resource use and the progress, a few times a second
 */
record ConsumerReport(
    long openedMicros,
    long lastMicros,
    long rows,
    long doubled,
    long outOfOrder,
    long negative,
    List<Sample> samples) {

  /**
   * A sample.
   *
   * @param micros the time of the sample, in microseconds since 1970
   * @param cpuNanos the processor time of the process so far
   * @param memoryBytes the memory that the process uses (RSS); 0 if unknown
   * @param rows the number of events of the run's rows so far
   * @param eventBytes the bytes of these events
   */
  record Sample(long micros, long cpuNanos, long memoryBytes, long rows, long eventBytes) {}
}
