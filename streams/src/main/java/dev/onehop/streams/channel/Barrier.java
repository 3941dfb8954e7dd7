package dev.onehop.streams.channel;

import dev.onehop.streams.channel.LeaseStore.Lease;
import dev.onehop.streams.event.Checkpoint;
import dev.onehop.streams.event.StreamEvent;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * An event that concerns more than one document, at which all channels of a group meet. The owner
 * of channel 0 writes it when all other channels have stored that they have finished everything
 * before it. Immutable.
 *
 * @param wide the event
 */
record Barrier(StreamEvent.Change wide) {
  /** What a member does at the event. */
  enum Step {
    /** Checks again later. */
    WAIT,
    /** Continues: the event is written. */
    PASS,
    /** Writes the event. */
    WRITE
  }

  /**
   * The next step of a member that has finished everything before the event.
   *
   * @param leases the state of all channels, in order
   * @param first the position before which the member writes nothing in channel 0; null if it does
   *     not own the channel
   * @param held whether the member's lease of channel 0 is valid
   */
  Step next(List<Lease> leases, @Nullable Checkpoint first, boolean held) {
    if (isIn(leases.get(0).place()) || (first != null && isIn(first))) {
      return Step.PASS;
    }
    boolean ready = leases.stream().allMatch(lease -> lease.channel() == 0 || hasReached(lease));
    return first != null && held && ready ? Step.WRITE : Step.WAIT;
  }

  private boolean isIn(Checkpoint place) {
    return place.includes(wide.shard(), wide.token());
  }

  private boolean hasReached(Lease lease) {
    String reached = lease.barrier();
    return isIn(lease.place()) || (reached != null && reached.compareTo(wide.token()) >= 0);
  }
}
