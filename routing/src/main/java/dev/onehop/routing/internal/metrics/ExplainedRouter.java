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
  /** What is known of the cluster. */
  RouterStatus status();

  /** Completes when what operations are routed by was read for the first time, or could not be. */
  Mono<Void> known();

  /** The same, and fails with the reason if a shard refuses this application. */
  default Mono<Void> usable() {
    return known();
  }

  /**
   * Whether new operations are routed, as they are at first. Otherwise they go to a mongos of the
   * URI; cursors and transactions stay where they are.
   */
  boolean isRouting();

  /** Has new operations routed, or not. */
  void setRouting(boolean on);

  /**
   * A collection's routing table, as the next command would be routed by; an {@code
   * UnknownNamespaceException} if there is none.
   */
  Mono<RoutingTable> table(String namespace);

  /** How long ago a collection's table was found to be the newest; empty if there is none. */
  Optional<Duration> tableAge(String namespace);

  /**
   * Where an operation goes.
   *
   * @param decision what is decided
   * @param servers it may go to; empty for the nearest
   * @param reason why these
   */
  record Choice(RouteDecision decision, List<ServerAddressName> servers, String reason) {}

  /**
   * Where an operation goes now.
   *
   * @param target what it touches
   * @param readPreference as in {@code $readPreference}
   */
  Mono<Choice> choice(Target target, BsonDocument readPreference);
}
