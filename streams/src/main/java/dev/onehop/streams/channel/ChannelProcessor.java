package dev.onehop.streams.channel;

import dev.onehop.streams.event.StreamEvent;
import java.util.List;
import org.reactivestreams.Publisher;

/** What an application does with the events of each channel. Implementations MUST be thread-safe. */
@FunctionalInterface
public interface ChannelProcessor {

  /**
   * Processes the next events of a channel. Those that follow in the same channel come once this is
   * done; other channels are processed meanwhile. It is called on a thread that may block.
   *
   * @param channel its number, from 0
   * @param events in order, at least one
   * @return completes when the events are processed for good, which acknowledges them; an error
   *     ends the processing of all channels with that error
   */
  Publisher<Void> process(int channel, List<StreamEvent.Change> events);
}
