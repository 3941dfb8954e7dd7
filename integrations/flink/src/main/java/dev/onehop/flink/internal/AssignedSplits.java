package dev.onehop.flink.internal;

import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The state of the enumerator.
 *
 * @param shards the ids of the shards with splits
 * @param leaving by the id of a removed shard, {@code _data} of a token after all its events
 * @param through {@code _data} of the token up to which no other shard has events; null if the set
 *     of shards is fixed
 * @param pending the splits that are not assigned yet
 * @param running the ids of all splits that have not ended
 */
public record AssignedSplits(
    Set<String> shards,
    Map<String, String> leaving,
    @Nullable String through,
    List<ShardSplit> pending,
    Set<String> running) {}
