package dev.onehop.flink.internal;

import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The state of the enumerator.
 *
 * @param shards the ids of the shards with splits
 * @param leaving the end of each removed shard's stream, by the shard's id: {@code _data} of a
 *     token after all events of the shard
 * @param through {@code _data} of a token: all events up to this token come from {@code shards}.
 *     Null if the set of shards is fixed
 * @param pending the splits that are not assigned yet
 * @param running the ids of all splits that have not ended
 */
public record AssignedSplits(
    Set<String> shards,
    Map<String, String> leaving,
    @Nullable String through,
    List<ShardSplit> pending,
    Set<String> running) {}
