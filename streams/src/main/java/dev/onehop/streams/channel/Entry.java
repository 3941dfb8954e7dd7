package dev.onehop.streams.channel;

import dev.onehop.streams.event.Checkpoint;
import dev.onehop.streams.event.StreamEvent;
import java.util.List;
import org.bson.BsonTimestamp;

/**
 * An event that has arrived at the channels. The lock of the owner of the channels guards its
 * state.
 */
final class Entry {
  /** The position before all events. */
  static final Checkpoint BEGINNING = Checkpoint.before(new BsonTimestamp(0));

  private final StreamEvent event;
  private final long bytes;
  private final long arrivedNanos;
  private Checkpoint floor = BEGINNING;
  private boolean done;

  /**
   * @param arrivedNanos the result of {@link BatchMeter#now}; 0 if the lag is not measured
   */
  Entry(StreamEvent event, long arrivedNanos) {
    this.event = event;
    this.bytes = Channels.bytes(event);
    this.arrivedNanos = arrivedNanos;
  }

  StreamEvent event() {
    return event;
  }

  long bytes() {
    return bytes;
  }

  long arrivedNanos() {
    return arrivedNanos;
  }

  /** The {@linkplain OwnedChannel floor} of the event's channel when the channel got the event. */
  Checkpoint floor() {
    return floor;
  }

  void setFloor(Checkpoint place) {
    floor = place;
  }

  /** The position of the channel once this event is written. */
  Checkpoint place() {
    return floor.union(event.checkpoint());
  }

  /** Whether the event is processed. Only {@link ChangeChannels} use this. */
  boolean isDone() {
    return done;
  }

  void setDone() {
    done = true;
  }

  /** The events of a batch that consists of changes. */
  static List<StreamEvent.Change> changes(List<Entry> batch) {
    return batch.stream().map(entry -> (StreamEvent.Change) entry.event).toList();
  }
}
