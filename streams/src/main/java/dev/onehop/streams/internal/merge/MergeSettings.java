package dev.onehop.streams.internal.merge;

import dev.onehop.streams.event.HistoryLostPolicy;
import dev.onehop.streams.event.Order;
import java.time.Duration;

/**
 * How streams are merged.
 *
 * @param order in which events are given
 * @param historyLost what happens when a shard has lost events
 * @param maxAwaitTime how long a server may wait for events
 * @param heartbeatInterval how often at most the placement is read that events wait for, and a
 *     shard that they wait for is asked to let its clock move
 * @param progressInterval how often the place is given while there are no events
 * @param bufferPerShard how many bytes may wait before no more are read
 * @param groupTransactions whether the events of a transaction are given together
 */
public record MergeSettings(
    Order order,
    HistoryLostPolicy historyLost,
    Duration maxAwaitTime,
    Duration heartbeatInterval,
    Duration progressInterval,
    long bufferPerShard,
    boolean groupTransactions) {}
