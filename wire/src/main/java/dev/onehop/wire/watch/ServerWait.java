package dev.onehop.wire.watch;

import com.mongodb.connection.ServerDescription;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.core.scheduler.Schedulers;

/**
 * Waits for a choice among watched servers, which is made again whenever something has changed, and
 * twice a second. Meanwhile the servers are checked at the pace at which the driver checks them
 * while an operation waits.
 *
 * <p>Thread-safe.
 */
final class ServerWait {
  private static final Duration CHECK_EVERY = Duration.ofMillis(500);

  private final Duration timeout;
  private final Sinks.Many<Boolean> changes = Sinks.many().multicast().directBestEffort();

  /**
   * @param timeout how long a choice is waited for; negative for ever, as the driver has it
   */
  ServerWait(Duration timeout) {
    this.timeout = timeout;
  }

  /** Takes note that something has changed. May be called with the driver's locks held. */
  void changed() {
    changes.emitNext(true, Sinks.EmitFailureHandler.busyLooping(Duration.ofSeconds(1)));
  }

  /**
   * Waits for a choice.
   *
   * @param choice null while there is nothing to choose
   * @param checkNow checks the servers soon
   * @param none says why nothing could be chosen in time
   */
  <T> Mono<T> until(Supplier<@Nullable T> choice, Runnable checkNow, Supplier<Throwable> none) {
    return Mono.defer(
        () -> {
          T now = choice.get();
          if (now != null) {
            return Mono.just(now);
          }
          Mono<T> chosen =
              Flux.merge(
                      // Not on the threads that watch, which hold locks of the driver's.
                      changes.asFlux().publishOn(Schedulers.parallel()),
                      Flux.interval(Duration.ZERO, CHECK_EVERY).doOnNext(tick -> checkNow.run()))
                  .onBackpressureDrop()
                  .<T>handle(
                      (change, sink) -> {
                        T found = choice.get();
                        if (found != null) {
                          sink.next(found);
                        }
                      })
                  .next();
          return timeout.isNegative() ? chosen : chosen.timeout(timeout, Mono.error(none));
        });
  }

  /**
   * One of the servers that are hardly farther than the nearest. Source: the drivers' specification
   * "Server Selection", latency window.
   *
   * @param windowNanos how much farther
   * @return null if there is no server
   */
  static @Nullable ServerDescription choose(List<ServerDescription> servers, long windowNanos) {
    if (servers.size() <= 1) {
      return servers.isEmpty() ? null : servers.get(0);
    }
    long nearest = Long.MAX_VALUE;
    for (ServerDescription server : servers) {
      nearest = Math.min(nearest, server.getRoundTripTimeNanos());
    }
    long window = nearest + windowNanos;
    List<ServerDescription> near = new ArrayList<>(servers);
    near.removeIf(server -> server.getRoundTripTimeNanos() > window);
    return near.get(ThreadLocalRandom.current().nextInt(near.size()));
  }
}
