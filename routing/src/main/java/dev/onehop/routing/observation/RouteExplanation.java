package dev.onehop.routing.observation;

import com.mongodb.ServerAddress;
import dev.onehop.core.targeting.Target;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The target of an operation at this moment, and the reason. The decision is the same as for the
 * operation itself, by the loaded routing table. An explanation sends nothing to the cluster,
 * except to load a missing table. Immutable.
 *
 * @param namespace database and collection
 * @param decision the routing decision
 * @param shards the shards that the operation can touch, in alphabetical order; empty if there is
 *     no routing table
 * @param routers the mongoses that the operation goes to first; empty for the nearest mongos. In
 *     direct mode these are the known primaries of the shards. If a preferred zone decides, these
 *     are the servers of the zone; see {@link dev.onehop.routing.OneHop.Builder#preferredZones}
 * @param reason the reason of the decision, in words
 * @param tableAge the time since the routing table was last confirmed as the newest; null if there
 *     is no table
 * @param target the chunks that the operation can touch; null if there is no routing table
 */
public record RouteExplanation(
    String namespace,
    RouteDecision decision,
    List<String> shards,
    List<ServerAddress> routers,
    String reason,
    @Nullable Duration tableAge,
    @Nullable Target target) {
  public RouteExplanation {
    shards = List.copyOf(shards);
    routers = List.copyOf(routers);
  }

  /** An explanation for a namespace without a routing table. */
  public static RouteExplanation ofNone(String namespace, String reason) {
    return new RouteExplanation(
        namespace, RouteDecision.NO_TABLE, List.of(), List.of(), reason, null, null);
  }
}
