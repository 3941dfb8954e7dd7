package dev.onehop.streams.channel;

import dev.onehop.streams.event.Checkpoint;
import dev.onehop.streams.event.StreamEvent;
import java.util.List;

/**
 * Events of a channel, with the data that a sink needs to write them exactly once.
 *
 * @param channel the channel's number, from 0
 * @param term a number that rises with each new owner of the channel
 * @param events the events in order, at least one
 * @param place the position of the channel after these events; an exactly-once sink stores it
 *     together with the events
 */
public record ChannelBatch(
    int channel, long term, List<StreamEvent.Change> events, Checkpoint place) {
  /** Copies the list. */
  public ChannelBatch {
    events = List.copyOf(events);
  }
}
