package dev.onehop.streams.channel;

import dev.onehop.streams.channel.LeaseStore.Lease;
import dev.onehop.streams.channel.LeaseStore.View;
import java.util.List;
import java.util.function.IntPredicate;

/**
 * The channels that a member has to take and to release, so that it owns its share of the group's
 * channels. All shares have the same size if the number of channels is divisible by the number of
 * members. Otherwise the first members get one channel more.
 *
 * @param leave the channels that the member releases, because it has more than its share
 * @param free the channels that the member may take, in order
 * @param missing the number of free channels that the member should take; negative if the member
 *     has too many channels
 */
record Assignment(List<Integer> leave, List<Integer> free, int missing) {

  /**
   * Computes the assignment of a member.
   *
   * @param view the state of the group
   * @param staying the member's channels, ascending, without channels that it is about to release
   * @param has whether the member has a channel, or still writes the last batch of a channel that
   *     it has lost
   */
  static Assignment of(View view, String member, List<Integer> staying, IntPredicate has) {
    int order = view.members().indexOf(member);
    if (order < 0) {
      // The member is not in the group: it has not renewed its leases yet, or has renewed them too
      // late. Because of the 1 for missing, the caller checks again soon.
      return new Assignment(List.of(), List.of(), 1);
    }
    int channels = view.leases().size();
    int members = view.members().size();
    int share = channels / members + (order < channels % members ? 1 : 0);
    return new Assignment(
        staying.subList(Math.min(share, staying.size()), staying.size()),
        view.leases().stream()
            .filter(lease -> isFree(lease, member) && !has.test(lease.channel()))
            .map(Lease::channel)
            .toList(),
        share - staying.size());
  }

  private static boolean isFree(Lease lease, String member) {
    String owner = lease.owner();
    return owner == null || lease.expired() || owner.equals(member);
  }
}
