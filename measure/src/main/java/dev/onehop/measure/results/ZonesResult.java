package dev.onehop.measure.results;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonInclude.Include;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What crossed zones, counted by the links.
 *
 * @param rate operations per second
 * @param seconds how long they were counted
 * @param lines the clients, in the order they ran
 */
public record ZonesResult(double rate, double seconds, List<Line> lines) {

  /** Lines that a file left out are none. */
  public ZonesResult {
    lines = lines == null ? List.of() : List.copyOf(lines);
  }

  /**
   * One client.
   *
   * @param zone where it ran
   * @param reads whether all operations were reads of any member; else half were reads, half
   *     updates, of primaries
   * @param mode its mode
   * @param variant how it was configured
   * @param preferred whether it was told which zone to prefer
   * @param operations operations that were answered while bytes were counted
   * @param failed operations of the whole run that failed, were not issued or not answered
   * @param latency of its operations, from the intended time, in microseconds
   * @param crossed bytes per operation that crossed zones
   * @param cpu processor time per operation; null where nothing is known of it
   * @param folder where its logs are, relative to the results' folder
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
   * Bytes per operation that crossed zones, both directions together.
   *
   * @param clientAndRouter between the application and mongoses
   * @param clientAndShard between the application and the shards' members, or config servers
   * @param routerAndShard between mongoses and the shards' members
   * @param background the rest: replication, heartbeats and metadata
   */
  public record Crossed(
      double clientAndRouter, double clientAndShard, double routerAndShard, double background) {
    /** Those of operations, without the background. */
    public double ofOperations() {
      return clientAndRouter + clientAndShard + routerAndShard;
    }
  }
}
