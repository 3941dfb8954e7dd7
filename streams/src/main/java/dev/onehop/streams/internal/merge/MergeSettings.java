package dev.onehop.streams.internal.merge;

import dev.onehop.streams.event.HistoryLostPolicy;
import dev.onehop.streams.event.Order;
import java.time.Duration;

/**
 * The settings of a merge.
 *
 * @param order the order of events
 * @param historyLost the behaviour when a shard has lost events
 * @param maxAwaitTime the longest wait of a server for events
 * @param heartbeatInterval the shortest interval, while events wait, of reads of the placement and
 *     of heartbeats at the shards that delay events
 * @param progressInterval the interval of progress events while there are no other events
 * @param bufferPerShard the number of waiting bytes above which a shard is not read
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

  /** The same settings without groups of transactions. */
  public MergeSettings ungrouped() {
    return new MergeSettings(
        order,
        historyLost,
        maxAwaitTime,
        heartbeatInterval,
        progressInterval,
        bufferPerShard,
        /* groupTransactions= */ false);
  }
}
