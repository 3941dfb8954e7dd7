package dev.onehop.streams.channel;

import dev.onehop.streams.event.Checkpoint;
import dev.onehop.streams.event.StreamEvent;
import org.reactivestreams.Publisher;

/**
 * The destination of the members of a {@link ChannelGroup}, in which each event is written exactly
 * once, even if a member continues after its leases have expired. {@link FencedSink} writes to
 * MongoDB; for another store, such as an SQL database:
 *
 * <ul>
 *   <li>{@link #begin} stores the term of the channel if it is not less than the stored one, and
 *       fails with a {@link FencedException} otherwise. It returns the stored position.
 *   <li>{@link #write} checks in one transaction that the stored term is still that of the batch,
 *       writes, and stores the batch's position.
 * </ul>
 *
 * <p>Implementations MUST be thread-safe. They are called on threads that may block.
 */
public interface ChannelSink {

  /**
   * Starts a term of a channel. After its completion, a write of a lower term MUST NOT have an
   * effect.
   *
   * @param channel the channel's number, from 0
   * @param term the term of the channel's new owner, greater than all before
   * @return the position of the last batch that was written for the channel, after which it
   *     continues; empty if there was none
   */
  Publisher<Checkpoint> begin(int channel, long term);

  /**
   * Writes the next events of a channel. The following events of the channel come after completion;
   * other channels run in parallel.
   *
   * @return completes when the events are durably written; a {@link FencedException} if a later
   *     term has started, so that the channel belongs to its new owner; any other error ends the
   *     processing
   */
  Publisher<Void> write(ChannelBatch batch);

  /**
   * Handles a notice: an event that is too large, in the order of its channel, or lost events, for
   * which each member is called after all its earlier events. A notice may be repeated.
   *
   * @param notice a {@link StreamEvent.HistoryLost} or a {@link StreamEvent.TooLarge}
   * @return as in {@link #write}; the default returns an error, so that no notice is ignored
   */
  default Publisher<Void> notice(StreamEvent notice) {
    return Notices.refuse(notice);
  }
}
