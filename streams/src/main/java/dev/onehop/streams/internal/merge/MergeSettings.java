package dev.onehop.streams.internal.merge;

import dev.onehop.streams.event.HistoryLostPolicy;
import dev.onehop.streams.event.Order;
import java.time.Duration;

/**
 * The settings of a merge.
 *
 * @param order the order of events
 * @param historyLost the behaviour when a shard has lost events
 * @param maxAwaitTime the longest time for which a server may wait for events before it replies
 * @param heartbeatInterval while events wait: the shortest interval between two reads of the
 *     placement, and between two heartbeats to a shard
 * @param progressInterval the interval of progress events while there are no other events
 * @param bufferPerShard the number of bytes of a shard's waiting events above which the shard is
 *     not read
 * @param groupTransactions whether the events of a transaction are emitted together
 */
public record MergeSettings(
    Order order,
    HistoryLostPolicy historyLost,
    Duration maxAwaitTime,
    Duration heartbeatInterval,
    Duration progressInterval,
    long bufferPerShard,
    boolean groupTransactions) {

  /** The same settings with other times, and without grouped transactions. */
  public MergeSettings ungrouped(Duration await, Duration progress) {
    return new MergeSettings(
        order, historyLost, await, heartbeatInterval, progress, bufferPerShard, false);
  }
}
