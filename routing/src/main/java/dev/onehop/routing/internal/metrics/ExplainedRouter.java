package dev.onehop.routing.internal.metrics;

import dev.onehop.core.table.RoutingTable;
import dev.onehop.core.targeting.Target;
import dev.onehop.routing.observation.RouteDecision;
import dev.onehop.routing.observation.RouterStatus;
import dev.onehop.shards.request.CommandRouter;
import dev.onehop.wire.ServerAddressName;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.bson.BsonDocument;
import reactor.core.publisher.Mono;

/** A router whose decisions can be explained. */
public interface ExplainedRouter extends CommandRouter {
  /** The current state of the router. */
  RouterStatus status();

  /** Completes after the first read of the routing information, whether it succeeded or failed. */
  Mono<Void> known();

  /**
   * Like {@link #known()}, but fails if a shard refuses this application; the error contains the
   * reason.
   */
  default Mono<Void> usable() {
    return known();
  }

  /**
   * Whether new operations are routed; true by default. If they are not, they go to a mongos of the
   * URI. Open cursors and transactions stay at their servers in both cases.
   */
  boolean isRouting();

  /** Turns the routing of new operations on or off. */
  void setRouting(boolean on);

  /**
   * The routing table that the next command on a collection uses. Fails with an {@code
   * UnknownNamespaceException} if there is no table.
   */
  Mono<RoutingTable> table(String namespace);

  /**
   * The time since a collection's table was last confirmed as the newest; empty if no table is
   * loaded.
   */
  Optional<Duration> tableAge(String namespace);

  /**
   * The target of an operation.
   *
   * @param decision the routing decision
   * @param servers the servers that the operation may go to; empty for the nearest server
   * @param reason the reason of the decision, in words
   */
  record Choice(RouteDecision decision, List<ServerAddressName> servers, String reason) {}

  /**
   * Decides the target of an operation at this moment.
   *
   * @param target the shards and chunks that the operation touches
   * @param readPreference in the format of {@code $readPreference}
   */
  Mono<Choice> choice(Target target, BsonDocument readPreference);
}
