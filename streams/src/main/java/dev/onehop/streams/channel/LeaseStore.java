package dev.onehop.streams.channel;

import dev.onehop.streams.event.Checkpoint;
import java.util.List;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * Where the members of a group agree who has which channel. What is written is there for good once
 * the answer says so; without an answer it may be there or not. Time is the store's.
 */
interface LeaseStore {
  /** The barrier of a channel that is at the end of the stream; greater than all tokens. */
  String END = "~";

  /**
   * A channel.
   *
   * @param owner null for none
   * @param term grows with each change of the owner
   * @param expired whether the owner has not renewed it in time
   * @param renewal the number of the owner's last renewal
   * @param place up to which the channel is done
   * @param barrier the token of an event that concerns all channels, or {@link #END}; everything
   *     before it is done
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
   * A channel as its owner stores it.
   *
   * @param term of the owner
   * @param place as of {@link Lease}
   * @param barrier as of {@link Lease}
   */
  record Hold(int channel, long term, Checkpoint place, @Nullable String barrier) {}

  /**
   * A group.
   *
   * @param id another one for each that is made, also of the same name
   * @param start where it begins
   */
  record Group(String id, Checkpoint start) {}

  /**
   * How things are.
   *
   * @param group the group's id; null if it is not there, or was removed
   * @param leases of all channels, in their order
   * @param members those that have renewed in time, in the order in which they came
   * @param ended whether the stream is at its end, and everything done
   */
  record View(@Nullable String group, List<Lease> leases, List<String> members, boolean ended) {}

  /**
   * Makes the group if it is not there. Fails if it was removed.
   *
   * @param start asked for the place where it begins if it has to be made
   * @return empty if it is being made by another member
   */
  Mono<Group> create(Mono<Checkpoint> start);

  /** Notes for all members, also those to come, that the group was removed while it ran. */
  Mono<Void> remove();

  /** What a member of a group that was removed fails with. */
  default IllegalStateException removed() {
    return new IllegalStateException(
        this
            + " were removed while it had members, and with them how far it was; a group that takes"
            + " its place needs another name, and a stream that starts where this one was");
  }

  /**
   * Renews a member and its channels. Those are left alone that are not its any more.
   *
   * @param renewal a number that is greater than all before
   */
  Mono<Void> renew(String member, long renewal, List<Hold> holds);

  Mono<View> read();

  /** Takes a channel that nobody has, whose owner is late, or that is the member's; else empty. */
  Mono<Lease> take(int channel, String member);

  /** Gives up a channel, if it is the member's. */
  Mono<Void> release(String member, Hold hold);

  /** Says that the stream is at its end, and everything done. */
  Mono<Void> end();

  /** Removes a member. */
  Mono<Void> leave(String member);
}
