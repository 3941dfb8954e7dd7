package dev.onehop.streams.channel;

import dev.onehop.streams.channel.LeaseStore.Lease;
import dev.onehop.streams.channel.LeaseStore.View;
import java.util.List;
import java.util.function.IntPredicate;

/**
 * What a member has to do to own its share of the channels. The members share them evenly; the
 * first ones get one more where that is not possible.
 *
 * @param leave the channels above the share, to be released
 * @param free the channels that the member may take, in order
 * @param missing how many of them it should take; negative if it has too many
 */
record Assignment(List<Integer> leave, List<Integer> free, int missing) {

  /**
   * Computes the assignment of a member.
   *
   * @param view the state of the group
   * @param staying the member's channels without those that it will release, ascending
   * @param has whether the member has a channel, or the last batch of one that it has lost
   */
  static Assignment of(View view, String member, List<Integer> staying, IntPredicate has) {
    int order = view.members().indexOf(member);
    if (order < 0) {
      // Not renewed yet, or too late.
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
