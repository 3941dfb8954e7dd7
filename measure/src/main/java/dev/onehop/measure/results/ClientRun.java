package dev.onehop.measure.results;

import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The clients behind a point that several client processes loaded together. The point's own figures
 * are of all of them: their histograms are added, never their percentiles averaged.
 *
 * @param folder the point's folder, by which it is found among the points
 * @param startSpreadMillis from the first client's start to the last one's, by their machines'
 *     clocks
 * @param clients the clients by index
 */
public record ClientRun(String folder, long startSpreadMillis, List<Part> clients) {

  /** Clients that a file left out are none. */
  public ClientRun {
    clients =
        clients == null
            ? List.of()
            : clients.stream().sorted(Comparator.comparingInt(Part::index)).toList();
  }

  /**
   * One client process.
   *
   * @param index from 0
   * @param seconds from the start of its first measured operation to the end of its last
   * @param operations operations in that time, failed ones included
   * @param errors failed operations among them
   * @param throughput operations per second
   * @param cpu processor time of its process per operation, in microseconds; null without any
   *     operation
   * @param latency of its operations of all kinds, a read-modify-write as its parts
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
