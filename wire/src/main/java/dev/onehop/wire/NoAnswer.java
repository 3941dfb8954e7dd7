package dev.onehop.wire;

import java.time.Duration;
import java.util.concurrent.TimeoutException;
import reactor.core.publisher.Mono;

/**
 * The failure of a request that gets no reply in time. Reactor's own message contains names of
 * operators, which do not help the reader of a log.
 */
public final class NoAnswer {
  private NoAnswer() {}

  /** A {@link TimeoutException} with the length of the wait. */
  public static <T> Mono<T> within(Duration time) {
    return Mono.error(() -> new TimeoutException("no answer within " + time.toMillis() + " ms"));
  }
}
