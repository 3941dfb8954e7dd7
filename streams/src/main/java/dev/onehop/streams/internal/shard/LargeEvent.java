package dev.onehop.streams.internal.shard;

import dev.onehop.streams.internal.merge.ReadFailure;
import dev.onehop.streams.internal.merge.ShardStream.Batch;
import dev.onehop.streams.internal.merge.ShardStream.Large;
import dev.onehop.streams.internal.merge.ShardStream.Place;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import org.bson.RawBsonDocument;
import reactor.core.publisher.Mono;

/** Reads an event that is too large to be sent like other events. */
record LargeEvent(ServerStream stream, StreamCommand command) {
  /**
   * The longest time for which the server may search for the event or the next fragment. Usually it
   * replies at once, because the event exists.
   */
  private static final Duration NARROW = Duration.ofSeconds(1);

  /** The first event after a position. It is complete, or has only its small fields. */
  Mono<Large> read(Place place) {
    return narrow(place)
        .flatMap(
            event ->
                whole(place, event)
                    .map(found -> new Large(found, true))
                    .defaultIfEmpty(new Large(event, false)));
  }

  private Mono<RawBsonDocument> narrow(Place place) {
    return stream
        .opened(() -> command.narrow(place))
        .flatMap(first -> first.events().isEmpty() ? more() : Mono.just(first))
        .map(batch -> batch.events().get(0));
  }

  /** The next batch, which has at least one event or fragment. */
  private Mono<Batch> more() {
    return stream
        .more(NARROW)
        .filter(batch -> !batch.events().isEmpty())
        .switchIfEmpty(Mono.error(() -> Failures.cursorNotFound("no event or fragment was found")));
  }

  /**
   * The complete event, from its fragments. Servers of version 6.0.9, 7.0 and later can split an
   * event into fragments. Empty if this server is older or cannot split this event.
   */
  private Mono<RawBsonDocument> whole(Place place, RawBsonDocument narrow) {
    Fragments fragments = new Fragments();
    return stream
        .opened(() -> command.split(place))
        .flatMap(batch -> collect(batch, fragments))
        .map(taken -> taken.event(narrow.getDocument("_id")))
        .filter(
            event ->
                Objects.equals(event.get("clusterTime"), narrow.get("clusterTime"))
                    && Objects.equals(event.get("documentKey"), narrow.get("documentKey")))
        .flatMap(event -> stream.completed(Mono.just(new Batch(List.of(event), null, false))))
        .flatMap(batch -> Mono.justOrEmpty(batch.events().stream().findFirst()))
        .onErrorResume(LargeEvent::isRefused, refused -> Mono.empty());
  }

  private Mono<Fragments> collect(Batch batch, Fragments into) {
    for (RawBsonDocument fragment : batch.events()) {
      if (into.add(fragment)) {
        return Mono.just(into);
      }
    }
    // If a fragment is missing, the event is read again from its first fragment, because a stream
    // cannot start after a fragment.
    return more().flatMap(more -> collect(more, into));
  }

  private static boolean isRefused(Throwable failure) {
    ReadFailure.Kind kind = Failures.of(failure).kind();
    return kind == ReadFailure.Kind.FINAL || kind == ReadFailure.Kind.TOO_LARGE;
  }
}
