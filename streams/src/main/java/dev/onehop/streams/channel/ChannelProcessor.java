package dev.onehop.streams.channel;

import dev.onehop.streams.event.StreamEvent;
import java.util.List;
import org.reactivestreams.Publisher;

/** Processes the events of channels in the application. Implementations MUST be thread-safe. */
@FunctionalInterface
public interface ChannelProcessor {

  /**
   * Processes the next events of a channel: one batch, or all events of a {@link
   * StreamEvent.Transaction}. The next call for this channel comes after the returned publisher has
   * completed. Calls for other channels run in parallel. The calling thread may block.
   *
   * @param channel the channel's number, from 0
   * @param events the events in order, at least one
   * @return completes when the events are processed, which acknowledges them. An error of the
   *     publisher ends the processing of all channels with this error. An exception or {@link
   *     Error} that this method throws has the same effect. An error of the virtual machine or of
   *     linking that is thrown on a thread of Reactor is not reported
   */
  Publisher<Void> process(int channel, List<StreamEvent.Change> events);

  /**
   * Handles a notice: events are lost, or an event is too large. {@link ChangeChannels} call this
   * method after all earlier events are processed and before all later events. In a {@link
   * ChannelGroup}, a notice may be repeated. If an event is too large, the owner of the event's
   * channel makes the call, in the order of this channel's events; other channels continue. If
   * events are lost, each member makes the call, after all its earlier events and before all its
   * later events.
   *
   * @param notice a {@link StreamEvent.HistoryLost} or a {@link StreamEvent.TooLarge}
   * @return as in {@link #process}; the default implementation returns an error, so that no notice
   *     is ignored
   */
  default Publisher<Void> notice(StreamEvent notice) {
    return Notices.refuse(notice);
  }
}
