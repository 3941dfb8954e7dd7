package dev.onehop.streams.internal.merge;

import dev.onehop.streams.event.Checkpoint;
import dev.onehop.streams.event.StreamEvent;
import java.util.List;
import org.bson.BsonDocument;
import org.bson.RawBsonDocument;

/**
 * An element of a shard's stream.
 *
 * @param token {@code _data} of the element's token
 * @param event the event of the server
 * @param kind the kind of the element
 * @param receivedNanos the {@link System#nanoTime} when the element arrived
 * @param parts the events of a transaction, at least one; {@code token} and {@code event} are those
 *     of the last part. Empty for other kinds
 * @param bytes the size of the events
 */
record Item(
    String token, BsonDocument event, Kind kind, long receivedNanos, List<Item> parts, long bytes) {

  Item(String token, BsonDocument event, Kind kind, long receivedNanos) {
    this(
        token,
        event,
        kind,
        receivedNanos,
        List.of(),
        event instanceof RawBsonDocument raw ? raw.getByteBuffer().remaining() : 0);
  }

  /** The kind of an item. */
  enum Kind {
    EVENT,
    /**
     * An event that concerns more than one document, such as a drop. It is always in total order.
     */
    WIDE,
    /** The last event of the whole stream. */
    INVALIDATE,
    /**
     * The end of the whole stream, without an event, because the pipeline has removed the event.
     */
    END,
    /** The fields that the server can send of an event that is too large. */
    TOO_LARGE,
    /** All events of a transaction on one shard, or the last part of these events. */
    TRANSACTION,
    /** A part of the events of a transaction on one shard; another part follows. */
    TRANSACTION_PART
  }

  private boolean isTransaction() {
    return kind == Kind.TRANSACTION || kind == Kind.TRANSACTION_PART;
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
