package dev.onehop.routing.observation;

import com.mongodb.ServerAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The state of a router at a moment. Immutable.
 *
 * @param mode {@code targeted} or {@code direct}; {@code none} if nothing is routed
 * @param isRouting whether new operations are routed: false if routing was {@linkplain
 *     dev.onehop.routing.OneHop#setRouting turned off}, or nothing is routed
 * @param clusterId the cluster's id in {@code config.version}; null if it is not known, and always
 *     null in direct mode
 * @param shards by shard id, the servers that operations on the shard go to first: the mongoses
 *     near the shard, in direct mode the shard's primary. The list is empty if no such server is
 *     known. The map is in order of the ids
 * @param tables by namespace, the time since its routing table was last confirmed as the newest, in
 *     order of the namespaces
 * @param missing the missing routing information, in words; empty if nothing is missing
 */
public record RouterStatus(
    String mode,
    boolean isRouting,
    @Nullable String clusterId,
    Map<String, List<ServerAddress>> shards,
    Map<String, Duration> tables,
    List<String> missing) {
  /** The mode if nothing is routed. */
  public static final String NONE = "none";

  private static final String DIRECT = "direct";

  /** Whether operations can be routed: no information is missing. */
  public boolean isReady() {
    return missing.isEmpty();
  }

  /**
   * Returns a copy of this status that also lists the missing tables of some collections.
   *
   * @param namespaces collections whose tables count as missing if they are not loaded
   * @param failures descriptions of failures; added if any information is missing
   */
  public RouterStatus with(List<String> namespaces, List<String> failures) {
    List<String> more = new ArrayList<>(missing);
    namespaces.stream()
        .filter(namespace -> !tables.containsKey(namespace))
        .forEach(namespace -> more.add("no routing table of " + namespace));
    failures.stream()
        .filter(failure -> !more.isEmpty() && !more.contains(failure))
        .toList()
        .forEach(more::add);
    return new RouterStatus(mode, isRouting, clusterId, shards, tables, more);
  }

  /** The number of shards for which at least one server is known. */
  public long reachableShards() {
    return shards.values().stream().filter(servers -> !servers.isEmpty()).count();
  }

  /** One line for logs. */
  @Override
  public String toString() {
    return "%s%s: %s%d shards, %s %d of %d, tables of %d collections%s"
        .formatted(
            mode,
            isRouting || mode.equals(NONE) ? "" : ", turned off",
            clusterId == null ? "" : "cluster " + clusterId + ", ",
            shards.size(),
            mode.equals(DIRECT) ? "primaries of" : "mongos beside",
            reachableShards(),
            shards.size(),
            tables.size(),
            missing.isEmpty() ? "" : "; missing: " + String.join("; ", missing));
  }
}
