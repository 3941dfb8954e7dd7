package dev.onehop.streams.internal.merge;

import dev.onehop.streams.event.Checkpoint;
import dev.onehop.streams.event.StreamEvent;
import org.bson.BsonDocument;
import org.bson.RawBsonDocument;

/**
 * What a shard's stream has given.
 *
 * @param token {@code _data} of its token
 * @param event as the server sent it
 * @param kind what it is
 * @param receivedNanos {@link System#nanoTime} when it arrived
 */
record Item(String token, BsonDocument event, Kind kind, long receivedNanos) {

  /** What an item is. */
  enum Kind {
    EVENT,
    /** An event that concerns more than a document, such as a drop: in total order. */
    WIDE,
    /** The last event of the whole stream. */
    INVALIDATE,
    /** What is left of an event that is too large to be sent. */
    TOO_LARGE
  }

  long bytes() {
    return event instanceof RawBsonDocument raw ? raw.getByteBuffer().remaining() : 0;
  }

  StreamEvent at(String shard, Checkpoint place) {
    return event instanceof RawBsonDocument raw && kind != Kind.TOO_LARGE
        ? new StreamEvent.Change(shard, token, raw, receivedNanos, place)
        : new StreamEvent.TooLarge(shard, event, place);
  }
}
