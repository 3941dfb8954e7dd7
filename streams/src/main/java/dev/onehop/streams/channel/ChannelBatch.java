package dev.onehop.streams.channel;

import dev.onehop.streams.event.Checkpoint;
import dev.onehop.streams.event.StreamEvent;
import java.util.List;

/**
 * Events of a channel, with what a sink needs to write them once.
 *
 * @param channel its number, from 0
 * @param term the term of the channel's owner, which grows with each change of the owner
 * @param events in order, at least one
 * @param place up to which the channel is done once these events are written; a sink that writes
 *     each of them once stores it with them
 */
public record ChannelBatch(
    int channel, long term, List<StreamEvent.Change> events, Checkpoint place) {
  /** Takes a copy of the list. */
  public ChannelBatch {
    events = List.copyOf(events);
  }
}
