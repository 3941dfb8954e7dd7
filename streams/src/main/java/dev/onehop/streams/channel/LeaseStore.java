package dev.onehop.streams.channel;

import dev.onehop.streams.event.Checkpoint;
import java.util.List;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * The store in which the members of a group record the owners of channels. A write is durable after
 * its reply. A write without a reply may have happened or not. All times are times of the store's
 * clock, not of the members' clocks.
 */
interface LeaseStore {
  /** The value of {@link Lease#barrier} at the end of the stream. It sorts after all tokens. */
  String END = "~";

  /**
   * The lease of a channel.
   *
   * @param channel the channel's number
   * @param owner the owner; null if the channel has no owner
   * @param term a number that rises with each new owner
   * @param expired whether the owner has not renewed the lease in time
   * @param renewal the number of the owner's last renewal
   * @param place the position that the channel has reached
   * @param barrier the token of an event for which all channels wait, or {@link #END}. The channel
   *     has finished all events before it. Null if the channel waits for no such event
   */
  record Lease(
      int channel,
      @Nullable String owner,
      long term,
      boolean expired,
      long renewal,
      Checkpoint place,
      @Nullable String barrier) {

    boolean isOf(String member, long ofTerm) {
      return member.equals(owner) && term == ofTerm;
    }

    boolean isAtEnd() {
      return END.equals(barrier);
    }
  }

  /**
   * The state of a channel that its owner stores.
   *
   * @param channel the channel's number
   * @param term the owner's term
   * @param place as in {@link Lease}
   * @param barrier as in {@link Lease}
   */
  record Hold(int channel, long term, Checkpoint place, @Nullable String barrier) {}

  /**
   * A group.
   *
   * @param id unique for each created group, even with the same name
   * @param start the start of the group
   */
  record Group(String id, Checkpoint start) {}

  /**
   * The state of the group.
   *
   * @param group the group's id; null if it does not exist or was removed
   * @param leases the leases of all channels, in order
   * @param members the members that have renewed their leases in time, in the order of joining
   * @param ended whether the stream has ended and all its events are written
   */
  record View(@Nullable String group, List<Lease> leases, List<String> members, boolean ended) {}

  /**
   * Creates the group if it does not exist, and returns it. Fails if the group was removed.
   *
   * @param start the publisher of the group's start; subscribed to only if the group does not exist
   *     yet
   * @return empty if another member is creating it
   */
  Mono<Group> create(Mono<Checkpoint> start);

  /**
   * Records that the group was removed while it had members. All current and future members then
   * fail.
   */
  Mono<Void> remove();

  /** The error of a member whose group was removed. */
  default IllegalStateException removed() {
    return new IllegalStateException(
        this
            + " were removed while the group had members, so the group's position is lost. Create a"
            + " group with another name, and start its stream at a known checkpoint");
  }

  /**
   * Renews the leases of a member. Channels that the member no longer owns are not changed.
   *
   * @param renewal a number that is greater than the numbers of all earlier renewals
   */
  Mono<Void> renew(String member, long renewal, List<Hold> holds);

  Mono<View> read();

  /**
   * Takes a channel for a member, if the channel has no owner, if its lease has expired, or if it
   * already belongs to the member. Empty if another member owns the channel.
   */
  Mono<Lease> take(int channel, String member);

  /** Releases a channel, if it belongs to the member. */
  Mono<Void> release(String member, Hold hold);

  /** Records that the stream has ended and that all its events are written. */
  Mono<Void> end();

  /** Removes a member. */
  Mono<Void> leave(String member);
}
