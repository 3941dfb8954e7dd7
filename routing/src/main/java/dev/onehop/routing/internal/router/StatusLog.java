package dev.onehop.routing.internal.router;

import dev.onehop.routing.internal.metrics.ExplainedRouter;
import dev.onehop.routing.observation.RouterStatus;
import dev.onehop.wire.handshake.ClientMetadata;
import java.time.Duration;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Flux;

/**
 * Logs a line for a router when the cluster is known. Logs another line when the shards or the
 * servers of a shard change, and when routing is turned off or on.
 */
final class StatusLog {
  private static final Logger log = LoggerFactory.getLogger("dev.onehop.routing.OneHop");

  private static final Duration EVERY = Duration.ofSeconds(2);

  private StatusLog() {}

  static Disposable start(ExplainedRouter router) {
    if (!log.isInfoEnabled() || !router.isRouting()) {
      return Disposables.disposed();
    }
    return router
        .known()
        .onErrorComplete()
        .thenMany(Flux.interval(Duration.ZERO, EVERY).onBackpressureDrop())
        .map(tick -> router.status())
        .filter(status -> !status.shards().isEmpty())
        .distinctUntilChanged(StatusLog::state)
        .subscribe(status -> log.info("OneHop {} {}", ClientMetadata.version(), status));
  }

  private static Object state(RouterStatus status) {
    return List.of(
        status.isRouting(), String.valueOf(status.clusterId()), status.shards(), status.missing());
  }
}
