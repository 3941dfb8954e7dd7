package dev.onehop.routing.internal.metrics;

import dev.onehop.routing.observation.RouteDecision;
import dev.onehop.wire.ServerAddressName;
import org.jspecify.annotations.Nullable;

/**
 * Where a command goes, or a part of it.
 *
 * @param decision why
 * @param shard the one that owns what the command touches; null if it is none or several
 * @param server the mongos
 * @param routerDown whether it stands in for one beside the shard
 */
public record Route(
    RouteDecision decision, @Nullable String shard, ServerAddressName server, boolean routerDown) {
  public Route(RouteDecision decision, ServerAddressName server) {
    this(decision, null, server, false);
  }
}
