package dev.onehop.flink.internal;

import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What the enumerator knows.
 *
 * @param shards the ids of those that have splits
 * @param leaving by the id of a shard that was removed, {@code _data} of a token after all its
 *     events
 * @param through {@code _data} of the token up to which there are no other shards; null if there
 *     never will be
 * @param pending the splits that no reader has yet
 * @param running the ids of all splits that have not ended
 */
public record AssignedSplits(
    Set<String> shards,
    Map<String, String> leaving,
    @Nullable String through,
    List<ShardSplit> pending,
    Set<String> running) {}
