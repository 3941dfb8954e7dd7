package dev.onehop.measure.results;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonInclude.Include;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The bytes across zones, counted by the links.
 *
 * @param rate operations per second
 * @param seconds the time of the count
 * @param lines the clients, in the order they ran
 */
public record ZonesResult(double rate, double seconds, List<Line> lines) {

  /**
   * One client.
   *
   * @param zone the zone of the client
   * @param reads whether all operations were reads of any member; else half were reads, half
   *     updates, of primaries
   * @param mode its mode
   * @param variant its configuration
   * @param preferred whether it had a preferred zone
   * @param operations operations with a reply during the count
   * @param failed operations of the whole run that failed, were not issued or had no reply
   * @param latency of its operations, from the intended time, in microseconds
   * @param crossed bytes per operation across zones
   * @param cpu processor time per operation; null if unknown
   * @param folder the folder of its logs, relative to the results' folder
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
   * Bytes per operation across zones, both directions together.
   *
   * @param clientAndRouter between the application and mongoses
   * @param clientAndShard between the application and the shards' members, or config servers
   * @param routerAndShard between mongoses and the shards' members
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
