package dev.onehop.routing.observation;

import com.mongodb.ServerAddress;
import dev.onehop.core.targeting.Target;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Where an operation would go now, and why. It is decided as the operation itself would be, by the
 * routing table at hand; nothing is sent for it but what reading the first table takes. Immutable.
 *
 * @param namespace database and collection
 * @param decision what is decided
 * @param shards the shards that can be concerned, in alphabetical order; empty if there is no
 *     routing table
 * @param routers the mongoses that the operation goes to first; empty for the nearest. In direct
 *     mode the primaries of the shards, as far as they are known. Where {@link
 *     dev.onehop.routing.OneHop.Builder#preferredZones} decide, the servers that they lead to now
 * @param reason what decided, in words
 * @param tableAge how long ago the routing table was found to be the newest; null if there is none
 * @param target the chunks that can be touched; null if there is no routing table
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

  /** Of a namespace without a routing table. */
  public static RouteExplanation ofNone(String namespace, String reason) {
    return new RouteExplanation(
        namespace, RouteDecision.NO_TABLE, List.of(), List.of(), reason, null, null);
  }
}
