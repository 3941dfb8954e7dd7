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
 * Waits until one of the watched servers can be chosen. A choice is attempted after every change of
 * a server and twice a second. During the wait, the servers are checked at the interval that the
 * driver uses while an operation waits.
 *
 * <p>Thread-safe.
 */
final class ServerWait {
  private static final Duration CHECK_EVERY = Duration.ofMillis(500);

  private final Duration timeout;
  private final Sinks.Many<Boolean> changes = Sinks.many().multicast().directBestEffort();

  /**
   * @param timeout the longest wait; negative for no limit, as in the driver
   */
  ServerWait(Duration timeout) {
    this.timeout = timeout;
  }

  /** Called after a change of a server's state. The caller may hold locks of the driver. */
  void changed() {
    changes.emitNext(true, Sinks.EmitFailureHandler.busyLooping(Duration.ofSeconds(1)));
  }

  /**
   * Waits until a choice is possible.
   *
   * @param choice returns what was chosen, or null while a choice is not possible
   * @param checkNow checks the servers soon
   * @param none returns the error if no choice was possible in time
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
                      // The choice must not run on monitor threads, which hold locks of the driver.
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
   * Chooses one of the servers within the latency window. Source: the drivers' specification
   * "Server Selection", latency window.
   *
   * @param windowNanos the largest difference to the nearest server, in nanoseconds
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
