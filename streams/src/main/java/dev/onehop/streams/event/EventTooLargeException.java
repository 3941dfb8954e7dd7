package dev.onehop.streams.event;

import org.bson.BsonDocument;

/**
 * An event is larger than a server can send. Streams that emit only the servers' own events fail
 * with this exception. A stream of {@link StreamEvent}s emits a {@link StreamEvent.TooLarge} for
 * the event and continues.
 */
public final class EventTooLargeException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final String shard;
  private final String place;

  /**
   * @param event the part of the event that the server can send
   */
  public EventTooLargeException(StreamEvent.TooLarge event) {
    super(
        "an event is too large for a server to send: "
            + event.event().toJson()
            + "; ShardedChangeStream.events() emits such an event as TooLarge, and continues after"
            + " the event");
    this.shard = event.shard();
    this.place = event.checkpoint().toDocument().toJson();
  }

  /** The id of the event's shard; empty if the event does not come from a shard. */
  public String shard() {
    return shard;
  }

  /**
   * The position directly after the event. A stream that starts at this position skips the event.
   */
  public Checkpoint checkpoint() {
    return Checkpoint.parse(BsonDocument.parse(place));
  }
}
