package dev.onehop.streams.channel;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onehop.streams.channel.Barrier.Step;
import dev.onehop.streams.channel.LeaseStore.Lease;
import dev.onehop.streams.event.Checkpoint;
import dev.onehop.streams.event.StreamEvent;
import java.util.ArrayList;
import java.util.List;
import org.bson.RawBsonDocument;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Positions are small numbers. The event that concerns more than one document is at position 5. */
class BarrierTest {
  private static final int EVENT = 5;

  private final Barrier barrier =
      new Barrier(
          new StreamEvent.Change(
              "a", token(EVENT), RawBsonDocument.parse("{operationType: 'drop'}"), 0, at(EVENT)));

  private static String token(int time) {
    return "82%016X2B022C0100296E5A04".formatted(time);
  }

  private static Checkpoint at(int time) {
    return Checkpoint.at(token(time));
  }

  /**
   * @param reached the position of the barrier event that the channel has reached; 0 if it has
   *     reached none
   */
  private static Lease lease(int channel, int place, int reached) {
    String barrier = reached == 0 ? null : token(reached);
    return new Lease(channel, "other", 1, false, 1, at(place), barrier);
  }

  private Step next(@Nullable Integer first, boolean held, Lease... others) {
    List<Lease> leases = new ArrayList<>(List.of(lease(0, 4, EVENT)));
    leases.addAll(List.of(others));
    return barrier.next(leases, first == null ? null : at(first), held);
  }

  @Test
  void writesWhenAllChannelsHaveReachedEvent() {
    Lease[] all = {lease(1, 3, EVENT), lease(2, 6, 0), lease(3, 1, EVENT + 1)};
    assertThat(next(4, true, all)).isEqualTo(Step.WRITE);
    assertThat(next(null, false, all)).isEqualTo(Step.WAIT);
  }

  @Test
  void waitsForLateChannel() {
    assertThat(next(4, true, lease(1, 3, EVENT), lease(2, 4, 0))).isEqualTo(Step.WAIT);
    assertThat(next(4, true, lease(1, 3, EVENT - 1))).isEqualTo(Step.WAIT);
  }

  /**
   * If the lease has ended, another member may own channel 0 by now. So this member waits and does
   * not write.
   */
  @Test
  void waitsWithoutLease() {
    assertThat(next(4, false, lease(1, 3, EVENT))).isEqualTo(Step.WAIT);
  }

  @Test
  void channelAtStreamEndHasReachedEvent() {
    Lease end = new Lease(1, null, 1, false, 1, at(1), LeaseStore.END);
    assertThat(next(4, true, end)).isEqualTo(Step.WRITE);
  }

  @Test
  void passesWrittenEvent() {
    Lease written = lease(0, EVENT, 0);
    assertThat(barrier.next(List.of(written, lease(1, 0, 0)), null, false)).isEqualTo(Step.PASS);
    // The sink has the event, but the stored lease does not show this yet.
    assertThat(next(EVENT, true, lease(1, 0, 0))).isEqualTo(Step.PASS);
  }
}
