package dev.onehop.wire;

import java.time.Duration;
import java.util.concurrent.TimeoutException;
import reactor.core.publisher.Mono;

/** What requests fail with that get no answer in time. Reactor's own message names operators. */
public final class NoAnswer {
  private NoAnswer() {}

  /** A {@link TimeoutException} that says how long was waited. */
  public static <T> Mono<T> within(Duration time) {
    return Mono.error(() -> new TimeoutException("no answer within " + time.toMillis() + " ms"));
  }
}
