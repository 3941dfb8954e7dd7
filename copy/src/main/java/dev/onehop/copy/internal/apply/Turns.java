package dev.onehop.copy.internal.apply;

import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/**
 * A lock for work that ends on other threads. Work runs one after the other, in the order of
 * subscription. During its turn, work must not wait for another turn and must not be cancelled.
 * Thread-safe.
 */
final class Turns {
  private Mono<Void> last = Mono.empty();

  /** Runs work after all earlier work has ended, with or without success. */
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
