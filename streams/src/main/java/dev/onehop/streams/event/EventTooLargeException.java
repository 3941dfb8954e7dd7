package dev.onehop.streams.event;

import org.bson.BsonDocument;

/**
 * An event is larger than a server can send, in a stream that gives nothing but the servers'
 * events. One of {@link StreamEvent}s gives it as a {@link StreamEvent.TooLarge} and goes on.
 */
public final class EventTooLargeException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final String shard;
  private final String place;

  /**
   * @param event what the server can send of it
   */
  public EventTooLargeException(StreamEvent.TooLarge event) {
    super(
        "an event is too large for a server to send: "
            + event.event().toJson()
            + "; ShardedChangeStream.events() gives it as a TooLarge and goes on after it");
    this.shard = event.shard();
    this.place = event.checkpoint().toDocument().toJson();
  }

  /** The id of the shard that it comes from; empty if it does not come from a shard. */
  public String shard() {
    return shard;
  }

  /** The place right after the event. A stream that starts from it leaves the event out. */
  public Checkpoint checkpoint() {
    return Checkpoint.parse(BsonDocument.parse(place));
  }
}
