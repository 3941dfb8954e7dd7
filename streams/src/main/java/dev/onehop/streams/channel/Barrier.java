package dev.onehop.streams.channel;

import dev.onehop.streams.channel.LeaseStore.Lease;
import dev.onehop.streams.event.Checkpoint;
import dev.onehop.streams.event.StreamEvent;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * An event that concerns more than one document, for which all channels of a group wait. The owners
 * of all other channels store that they have finished every earlier event. Then the owner of
 * channel 0 writes the event. Immutable.
 *
 * @param wide the event
 */
record Barrier(StreamEvent.Change wide) {
  /** The next step of a member that has reached the event. */
  enum Step {
    /** The member checks again later. */
    WAIT,
    /** The event is already written. The member continues with the events after it. */
    PASS,
    /** The member writes the event. */
    WRITE
  }

  /**
   * The next step of a member that has finished everything before the event.
   *
   * @param leases the state of all channels, in order
   * @param first the {@linkplain OwnedChannel floor} of channel 0. An event up to this position was
   *     written earlier. Null if the member does not own channel 0
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
