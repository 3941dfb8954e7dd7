package dev.onehop.streams.channel;

import dev.onehop.streams.event.Checkpoint;
import dev.onehop.streams.event.StreamEvent;
import org.reactivestreams.Publisher;

/**
 * A store to which the members of a {@link ChannelGroup} write each event exactly once, even if a
 * member continues after its leases have expired. {@link FencedSink} writes to MongoDB. An
 * implementation for another store, such as an SQL database, works as follows:
 *
 * <ul>
 *   <li>{@link #begin} stores the term of the channel and returns the stored position. If the
 *       stored term is greater than the new term, the call stores nothing and fails with a {@link
 *       FencedException}.
 *   <li>{@link #write} runs one transaction, which checks that the stored term equals the batch's
 *       term, writes the events, and stores the batch's position.
 * </ul>
 *
 * <p>Implementations MUST be thread-safe. The threads that call them may block.
 */
public interface ChannelSink {

  /**
   * Starts a term of a channel. After the returned publisher has completed, a write with a lower
   * term MUST NOT have an effect.
   *
   * @param channel the channel's number, from 0
   * @param term the term of the channel's new owner, greater than all earlier terms of the channel
   * @return the position of the last batch that was written for the channel. The channel continues
   *     after this position. Empty if no batch was written
   */
  Publisher<Checkpoint> begin(int channel, long term);

  /**
   * Writes the next events of a channel. The next call for this channel comes after the returned
   * publisher has completed. Calls for other channels run in parallel.
   *
   * @return completes when the events are durably written. It fails with a {@link FencedException}
   *     if a later term has started; the channel then belongs to its new owner, and the other
   *     channels continue. Any other error ends the processing
   */
  Publisher<Void> write(ChannelBatch batch);

  /**
   * Handles a notice: an event is too large, or events are lost. If an event is too large, the
   * owner of the event's channel makes the call, in the order of the channel's events. If events
   * are lost, each member makes the call, after all its earlier events. A notice may be repeated.
   *
   * @param notice a {@link StreamEvent.HistoryLost} or a {@link StreamEvent.TooLarge}
   * @return as in {@link #write}; the default implementation returns an error, so that no notice is
   *     ignored
   */
  default Publisher<Void> notice(StreamEvent notice) {
    return Notices.refuse(notice);
  }
}
