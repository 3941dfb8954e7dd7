package dev.onehop.routing.internal.targeted;

import dev.onehop.routing.observation.RouteDecision;
import dev.onehop.wire.ServerAddressName;
import org.jspecify.annotations.Nullable;

/**
 * Where a command goes.
 *
 * @param decision why
 * @param shard the one that owns what the command touches; null if it is none or several
 * @param server the mongos
 * @param routerDown whether it stands in for one beside the shard
 */
record Route(
    RouteDecision decision, @Nullable String shard, ServerAddressName server, boolean routerDown) {
  Route(RouteDecision decision, ServerAddressName server) {
    this(decision, null, server, false);
  }
}
