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

  /**
   * A channel.
   *
   * @param owner null for none
   * @param term grows with each change of the owner
   * @param expired whether the owner has not renewed it in time
   * @param renewal the number of the owner's last renewal
   * @param place up to which the channel is done
   * @param barrier the token of an event that concerns all channels; everything before it is done
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
   * How things are.
   *
   * @param leases of all channels, in their order
   * @param members those that have renewed in time, in the order in which they came
   * @param ended whether the stream is at its end, and everything done
   */
  record View(List<Lease> leases, List<String> members, boolean ended) {}

  /**
   * Makes the group if it is not there.
   *
   * @param start asked for the place where it begins if it has to be made
   */
  Mono<Void> create(Mono<Checkpoint> start);

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
