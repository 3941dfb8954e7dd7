package dev.onehop.streams.internal.merge;

import dev.onehop.streams.event.Checkpoint;
import dev.onehop.streams.event.StreamEvent;
import java.util.List;
import org.bson.BsonDocument;
import org.bson.RawBsonDocument;

/**
 * An element of a shard's stream.
 *
 * @param token {@code _data} of its token
 * @param event the event of the server
 * @param kind the kind of the element
 * @param receivedNanos the time of its arrival, by {@link System#nanoTime}
 * @param parts the events of a transaction, at least one; the item then has the token and the event
 *     of the last one. Empty for other kinds
 */
record Item(String token, BsonDocument event, Kind kind, long receivedNanos, List<Item> parts) {

  Item(String token, BsonDocument event, Kind kind, long receivedNanos) {
    this(token, event, kind, receivedNanos, List.of());
  }

  /** The kind of an item. */
  enum Kind {
    EVENT,
    /** An event that concerns more than one document, such as a drop; always in total order. */
    WIDE,
    /** The last event of the whole stream. */
    INVALIDATE,
    /** The end of the whole stream, without an event, because the pipeline has removed it. */
    END,
    /** The rest of an event that is too large to be sent. */
    TOO_LARGE,
    /** A shard's events of a transaction, or the last of them. */
    TRANSACTION,
    /** Some events of a transaction, followed by more. */
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
