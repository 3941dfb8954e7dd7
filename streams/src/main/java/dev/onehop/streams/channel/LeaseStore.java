package dev.onehop.streams.channel;

import dev.onehop.streams.event.Checkpoint;
import java.util.List;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * The store in which the members of a group agree on the owners of channels. A write is durable
 * after its reply; without a reply it may have happened or not. Times are those of the store's
 * clock.
 */
interface LeaseStore {
  /** The barrier of a channel at the end of the stream; greater than all tokens. */
  String END = "~";

  /**
   * The lease of a channel.
   *
   * @param channel the channel's number
   * @param owner the owner; null for none
   * @param term grows with each change of the owner
   * @param expired whether the owner has not renewed the lease in time
   * @param renewal the number of the owner's last renewal
   * @param place the position that the channel has reached
   * @param barrier the token of an event that concerns all channels, or {@link #END}; everything
   *     before it is done; null for none
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
   * @param members the members that have renewed in time, in the order of joining
   * @param ended whether the stream is at its end and everything is done
   */
  record View(@Nullable String group, List<Lease> leases, List<String> members, boolean ended) {}

  /**
   * Creates the group if it does not exist. Fails if it was removed.
   *
   * @param start the start of the group; subscribed to only if the group has to be created
   * @return empty if another member is creating it
   */
  Mono<Group> create(Mono<Checkpoint> start);

  /** Records for all current and future members that the group was removed while it had members. */
  Mono<Void> remove();

  /** The error of a member whose group was removed. */
  default IllegalStateException removed() {
    return new IllegalStateException(
        this
            + " were removed while it had members, and with them its position; a group that takes"
            + " its place needs another name, and a stream that starts at this position");
  }

  /**
   * Renews the leases of a member. Channels that it no longer owns are not changed.
   *
   * @param renewal a number that is greater than all before
   */
  Mono<Void> renew(String member, long renewal, List<Hold> holds);

  Mono<View> read();

  /**
   * Takes a channel that has no owner, whose lease has expired, or that belongs to the member;
   * otherwise empty.
   */
  Mono<Lease> take(int channel, String member);

  /** Releases a channel, if it belongs to the member. */
  Mono<Void> release(String member, Hold hold);

  /** Records that the stream is at its end and everything is done. */
  Mono<Void> end();

  /** Removes a member. */
  Mono<Void> leave(String member);
}
