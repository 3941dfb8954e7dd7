package dev.onehop.copy.internal.apply;

import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/**
 * A lock of work that ends on other threads: one after the other, in the order of subscription.
 * What has a turn must not wait for another one's, and must not be cancelled. Thread-safe.
 */
final class Turns {
  private Mono<Void> last = Mono.empty();

  /** Work that begins when all before it has ended, however that was. */
  <T> Mono<T> next(Mono<T> work) {
    return Mono.defer(
        () -> {
          Sinks.Empty<Void> end = Sinks.empty();
          Mono<Void> before;
          synchronized (this) {
            before = last;
            last = end.asMono();
          }
          return before.then(work).doFinally(signal -> end.tryEmitEmpty());
        });
  }
}
