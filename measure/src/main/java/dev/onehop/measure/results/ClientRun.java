package dev.onehop.measure.results;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The clients of a point with several client processes. The point's figures include all clients:
 * their histograms are added, and percentiles are never averaged.
 *
 * @param folder the point's folder, which identifies the point
 * @param startSpreadMillis the time from the start of the first client to the start of the last
 *     client, in milliseconds by their machines' clocks
 * @param clients the clients by index
 */
public record ClientRun(String folder, long startSpreadMillis, List<Part> clients) {

  /**
   * One client process.
   *
   * @param index the number of the client, from 0
   * @param seconds the time from the start of the client's first measured operation to the end of
   *     its last
   * @param operations the number of operations in that time, including failed operations
   * @param errors the number of failed operations
   * @param throughput the operations per second
   * @param cpu the processor time of the client's process per operation, in microseconds; null
   *     without operations
   * @param latency the latencies of the client's operations of all kinds, including the parts of a
   *     read-modify-write
   */
  public record Part(
      int index,
      double seconds,
      long operations,
      long errors,
      double throughput,
      @Nullable Double cpu,
      LatencySummary latency) {}
}
