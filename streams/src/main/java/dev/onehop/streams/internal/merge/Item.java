package dev.onehop.streams.internal.merge;

import dev.onehop.streams.event.Checkpoint;
import dev.onehop.streams.event.StreamEvent;
import java.util.List;
import org.bson.BsonDocument;
import org.bson.RawBsonDocument;

/**
 * What a shard's stream has given.
 *
 * @param token {@code _data} of its token
 * @param event as the server sent it
 * @param kind what it is
 * @param receivedNanos {@link System#nanoTime} when it arrived
 * @param parts the events of a transaction, at least one, of which this has the last one's token
 *     and event; else none
 */
record Item(String token, BsonDocument event, Kind kind, long receivedNanos, List<Item> parts) {

  Item(String token, BsonDocument event, Kind kind, long receivedNanos) {
    this(token, event, kind, receivedNanos, List.of());
  }

  /** What an item is. */
  enum Kind {
    EVENT,
    /** An event that concerns more than a document, such as a drop: in total order. */
    WIDE,
    /** The last event of the whole stream. */
    INVALIDATE,
    /** The end of the whole stream, without an event since the pipeline has left that out. */
    END,
    /** What is left of an event that is too large to be sent. */
    TOO_LARGE,
    /** A shard's events of a transaction, or the last of them. */
    TRANSACTION,
    /** Some of them, after which more follow. */
    TRANSACTION_PART
  }

  private boolean isTransaction() {
    return kind == Kind.TRANSACTION || kind == Kind.TRANSACTION_PART;
  }

  long bytes() {
    if (isTransaction()) {
      return parts.stream().mapToLong(Item::bytes).sum();
    }
    return event instanceof RawBsonDocument raw ? raw.getByteBuffer().remaining() : 0;
  }

  StreamEvent at(String shard, Checkpoint place) {
    if (isTransaction()) {
      return new StreamEvent.Transaction(
          shard,
          event.getDocument("lsid"),
          event.getNumber("txnNumber").longValue(),
          parts.stream().map(part -> (StreamEvent.Change) part.at(shard, place)).toList(),
          kind == Kind.TRANSACTION,
          place);
    }
    if (kind == Kind.END) {
      return new StreamEvent.Progress(place);
    }
    return event instanceof RawBsonDocument raw && kind != Kind.TOO_LARGE
        ? new StreamEvent.Change(shard, token, raw, receivedNanos, place)
        : new StreamEvent.TooLarge(shard, event, place);
  }
}
