package dev.onehop.streams.channel;

import dev.onehop.streams.event.Checkpoint;
import dev.onehop.streams.event.StreamEvent;
import org.reactivestreams.Publisher;

/**
 * Where the members of a {@link ChannelGroup} write, so that each event is written exactly once,
 * also when a member that was thought dead goes on. {@link FencedSink} writes to MongoDB; for
 * another store, such as an SQL database:
 *
 * <ul>
 *   <li>{@link #begin} stores the term of the channel if it is not less than the stored one, and
 *       fails with a {@link FencedException} if it is less. It returns the place that is stored.
 *   <li>{@link #write} checks in one transaction that the stored term is still that of the batch,
 *       writes, and stores the batch's place.
 * </ul>
 *
 * <p>Implementations MUST be thread-safe. They are called on threads that may block.
 */
public interface ChannelSink {

  /**
   * Begins with a channel. From its completion on no write of a lesser term MUST have an effect.
   *
   * @param channel its number, from 0
   * @param term of the channel's new owner, greater than all before
   * @return the place of the last batch that was written for the channel, from which it goes on;
   *     nothing if there was none
   */
  Publisher<Checkpoint> begin(int channel, long term);

  /**
   * Writes the next events of a channel. Those that follow in the same channel come once this is
   * done; other channels are written meanwhile.
   *
   * @return completes when they are written for good; a {@link FencedException} if a later term has
   *     begun, upon which the channel is left to its new owner; another error ends the processing
   */
  Publisher<Void> write(ChannelBatch batch);

  /**
   * Takes what is no event of a document that can be written: one that is too large, in the order
   * of its channel, or events that are lost, which each member is told after all it was given
   * before. It may come again.
   *
   * @param notice a {@link StreamEvent.HistoryLost} or a {@link StreamEvent.TooLarge}
   * @return as of {@link #write}; an error unless this is overridden, so that nothing is missed
   *     without notice
   */
  default Publisher<Void> notice(StreamEvent notice) {
    return Notices.refuse(notice);
  }
}
