package dev.onehop.routing.internal.metrics;

import dev.onehop.routing.observation.RouteDecision;
import dev.onehop.wire.ServerAddressName;
import org.jspecify.annotations.Nullable;

/**
 * The route of a command or of a part of it.
 *
 * @param decision the routing decision
 * @param shard the one shard that owns all data that the command touches; null if there is no such
 *     shard
 * @param server the mongos that the command goes to
 * @param routerDown whether this mongos replaces a near mongos that is down
 */
public record Route(
    RouteDecision decision, @Nullable String shard, ServerAddressName server, boolean routerDown) {
  public Route(RouteDecision decision, ServerAddressName server) {
    this(decision, null, server, false);
  }
}
