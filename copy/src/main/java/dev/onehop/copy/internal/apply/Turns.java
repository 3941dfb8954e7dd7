package dev.onehop.copy.internal.apply;

import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/**
 * A lock for asynchronous work. The work may start on one thread and end on another thread. Pieces
 * of work run one after another, in the order of their subscriptions. While work runs, it must not
 * wait for other work of this or another {@code Turns}, and must not be cancelled. Thread-safe.
 */
final class Turns {
  private Mono<Void> last = Mono.empty();

  /** Returns work that starts after all earlier work has ended, with or without success. */
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
