package dev.onehop.routing.internal.metrics;

import dev.onehop.core.targeting.Target;
import dev.onehop.routing.observation.RouteDecision;
import dev.onehop.routing.observation.RouterStatus;
import dev.onehop.shards.request.CommandRouter;
import dev.onehop.wire.ServerAddressName;
import java.util.List;
import org.bson.BsonDocument;
import reactor.core.publisher.Mono;

/** A router whose decisions can be explained. */
public interface ExplainedRouter extends CommandRouter {
  /** What is decided for an operation that touches this. */
  default RouteDecision decision(Target target) {
    return target.isSingleShard() ? RouteDecision.OWNER : RouteDecision.SEVERAL_SHARDS;
  }

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
  void setRouting(boolean on);

  /**
   * Where a read goes that the preferred zones decide.
   *
   * @param decision what is decided
   * @param servers it goes to
   * @param reason why these
   */
  record ZoneChoice(RouteDecision decision, List<ServerAddressName> servers, String reason) {}

  /**
   * Where a read goes now if the preferred zones decide it; empty if they don't.
   *
   * @param target what it touches
   * @param readPreference as in {@code $readPreference}
   */
  Mono<ZoneChoice> zoneChoice(Target target, BsonDocument readPreference);
}
