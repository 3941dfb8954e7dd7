package dev.onehop.streams.channel;

import dev.onehop.streams.event.Checkpoint;
import dev.onehop.streams.event.StreamEvent;
import java.util.List;

/**
 * Events of a channel, with the data that a sink needs to write them exactly once.
 *
 * @param channel the channel's number, from 0
 * @param term the term of the channel's owner, which grows with each change of the owner
 * @param events in order, at least one
 * @param place the position that the channel has reached once these events are written; an
 *     exactly-once sink stores it together with the events
 */
public record ChannelBatch(
    int channel, long term, List<StreamEvent.Change> events, Checkpoint place) {
  /** Copies the list. */
  public ChannelBatch {
    events = List.copyOf(events);
  }
}
