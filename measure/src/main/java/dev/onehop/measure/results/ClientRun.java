package dev.onehop.measure.results;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The clients of a point with several client processes. The point's figures include all clients:
 * their histograms are added, and percentiles are never averaged.
 *
 * @param folder the point's folder, which identifies the point
 * @param startSpreadMillis from the first client's start to the last one's, by their machines'
 *     clocks
 * @param clients the clients by index
 */
public record ClientRun(String folder, long startSpreadMillis, List<Part> clients) {

  /**
   * One client process.
   *
   * @param index from 0
   * @param seconds from the start of its first measured operation to the end of its last
   * @param operations operations in that time, including failed ones
   * @param errors the failed operations
   * @param throughput operations per second
   * @param cpu processor time of its process per operation, in microseconds; null without any
   *     operation
   * @param latency of its operations of all kinds, with the parts of a read-modify-write
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
