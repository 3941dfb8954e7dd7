package dev.onehop.streams.channel;

import dev.onehop.streams.event.StreamEvent;
import java.util.List;
import org.reactivestreams.Publisher;

/**
 * What an application does with the events of each channel. Implementations MUST be thread-safe.
 */
@FunctionalInterface
public interface ChannelProcessor {

  /**
   * Processes the next events of a channel: at most as many as a batch may have, or all of a {@link
   * StreamEvent.Transaction}. Those that follow in the same channel come once this is done; other
   * channels are processed meanwhile. It is called on a thread that may block.
   *
   * @param channel its number, from 0
   * @param events in order, at least one
   * @return completes when the events are processed for good, which acknowledges them; an error
   *     ends the processing of all channels with that error
   */
  Publisher<Void> process(int channel, List<StreamEvent.Change> events);

  /**
   * Takes what is no event of a document: events that are lost, or one that is too large. It comes
   * after everything before it is processed, and before everything after it.
   *
   * @param notice a {@link StreamEvent.HistoryLost} or a {@link StreamEvent.TooLarge}
   * @return as of {@link #process}; an error unless this is overridden, so that nothing is missed
   *     without notice
   */
  default Publisher<Void> notice(StreamEvent notice) {
    return Notices.refuse(notice);
  }
}
