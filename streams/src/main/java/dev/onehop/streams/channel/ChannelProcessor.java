package dev.onehop.streams.channel;

import dev.onehop.streams.event.StreamEvent;
import java.util.List;
import org.reactivestreams.Publisher;

/** Processes the events of channels in the application. Implementations MUST be thread-safe. */
@FunctionalInterface
public interface ChannelProcessor {

  /**
   * Processes the next events of a channel: at most the events of one batch, or all of a {@link
   * StreamEvent.Transaction}. The next events of the channel follow after completion; other
   * channels run in parallel. Called on a thread that may block.
   *
   * @param channel the channel's number, from 0
   * @param events in order, at least one
   * @return completes when the events are finally processed, which acknowledges them; an error ends
   *     the processing of all channels with that error, also an {@link Error} that this method
   *     throws. Reactor does not signal errors of the virtual machine or of linking that one of its
   *     own threads throws
   */
  Publisher<Void> process(int channel, List<StreamEvent.Change> events);

  /**
   * Handles a notice that is not an event of a document: lost events, or an event that is too
   * large. Called after everything before the notice is processed, and before everything after it.
   *
   * @param notice a {@link StreamEvent.HistoryLost} or a {@link StreamEvent.TooLarge}
   * @return as in {@link #process}; the default returns an error, so that no notice is ignored
   */
  default Publisher<Void> notice(StreamEvent notice) {
    return Notices.refuse(notice);
  }
}
