package dev.onehop.streams;

import dev.onehop.streams.event.EventTooLargeException;
import dev.onehop.streams.event.HistoryLostException;
import dev.onehop.streams.event.StreamEvent;
import reactor.core.publisher.Flux;

/** Selects the change events of a stream. */
final class Documents {
  private Documents() {}

  /**
   * Returns the change events, without the progress events. The result fails if an event is too
   * large or if history is lost, because events would be missing.
   */
  static Flux<StreamEvent.Change> of(Flux<StreamEvent> events) {
    return events.handle(
        (event, sink) -> {
          if (event instanceof StreamEvent.Change change) {
            sink.next(change);
          } else if (event instanceof StreamEvent.TooLarge large) {
            sink.error(new EventTooLargeException(large));
          } else if (event instanceof StreamEvent.HistoryLost lost) {
            sink.error(new HistoryLostException(lost.shard(), lost.from(), lost.to()));
          } else if (!(event instanceof StreamEvent.Progress)) {
            sink.error(new IllegalStateException("not an event of a server: " + event));
          }
        });
  }
}
