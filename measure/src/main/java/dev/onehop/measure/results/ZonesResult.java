package dev.onehop.measure.results;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonInclude.Include;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The bytes that crossed from one zone to another, as the testbed's links count them.
 *
 * @param rate the operations per second
 * @param seconds the time for which bytes were counted
 * @param lines the clients, in the order of their measurement
 */
public record ZonesResult(double rate, double seconds, List<Line> lines) {

  /**
   * One client.
   *
   * @param zone the zone of the client
   * @param reads true if all operations were reads that any member may serve; false if half were
   *     reads and half were updates, all on primaries
   * @param mode the mode of the client
   * @param variant the configuration of the client, in words
   * @param preferred whether the client had a preferred zone
   * @param operations the number of operations with a reply while bytes were counted
   * @param failed the number of operations of the whole run that failed, were not issued or had no
   *     reply
   * @param latency the latency of the operations, from the intended time, in microseconds
   * @param crossed the bytes per operation that crossed zones
   * @param cpu the processor time per operation; null if unknown
   * @param folder the folder of the client's logs, relative to the results' folder
   */
  public record Line(
      String zone,
      boolean reads,
      String mode,
      String variant,
      boolean preferred,
      long operations,
      long failed,
      LatencySummary latency,
      Crossed crossed,
      @JsonInclude(Include.NON_NULL) @Nullable CpuPerOperation cpu,
      String folder) {}

  /**
   * The bytes per operation that crossed from one zone to another, both directions together.
   *
   * @param clientAndRouter the bytes between the application and mongoses
   * @param clientAndShard the bytes between the application and shards or config servers
   * @param routerAndShard the bytes between mongoses and shards
   * @param background all other bytes: replication, heartbeats and metadata
   */
  public record Crossed(
      double clientAndRouter, double clientAndShard, double routerAndShard, double background) {
    /** The bytes of operations, without the background. */
    public double ofOperations() {
      return clientAndRouter + clientAndShard + routerAndShard;
    }
  }
}
