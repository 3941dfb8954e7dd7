package dev.onehop.streams.channel;

import dev.onehop.streams.event.StreamEvent;
import reactor.core.publisher.Mono;

/** The default handling of notices. */
final class Notices {
  private Notices() {}

  static Mono<Void> refuse(StreamEvent notice) {
    return Mono.error(
        new IllegalStateException(
            notice instanceof StreamEvent.TooLarge large
                ? "an event is too large for a server to send: " + large.event().toJson()
                : "events are lost: " + notice));
  }
}
