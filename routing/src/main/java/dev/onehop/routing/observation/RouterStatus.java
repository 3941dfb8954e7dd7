package dev.onehop.routing.observation;

import com.mongodb.ServerAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What a router knows of its cluster at a moment. Immutable.
 *
 * @param mode {@code targeted} or {@code direct}; {@code none} if nothing is routed
 * @param isRouting whether new operations are routed: false if that was {@linkplain
 *     dev.onehop.routing.OneHop#setRouting turned off}, or there is nothing to route
 * @param clusterId the cluster's id in {@code config.version}; null if it is not known, and in
 *     direct mode
 * @param shards per shard id the servers that its operations go to first: the mongoses beside it,
 *     in direct mode its primary; none if none is known. In order of the ids
 * @param tables per namespace how long ago its routing table was found to be the newest, in order
 *     of the namespaces
 * @param missing what is not known that operations are routed by, in words; empty if all is known
 */
public record RouterStatus(
    String mode,
    boolean isRouting,
    @Nullable String clusterId,
    Map<String, List<ServerAddress>> shards,
    Map<String, Duration> tables,
    List<String> missing) {
  /** The mode of a router that routes nothing. */
  public static final String NONE = "none";

  private static final String DIRECT = "direct";

  /** Whether operations can be routed. */
  public boolean isReady() {
    return missing.isEmpty();
  }

  /**
   * The same for some collections.
   *
   * @param namespaces whose tables are missing if they are not there
   * @param failures what failed, in words: missing, too, unless nothing else is
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

  /** How many shards have a server to go to first. */
  public long reachableShards() {
    return shards.values().stream().filter(servers -> !servers.isEmpty()).count();
  }

  /** One line for people. */
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
