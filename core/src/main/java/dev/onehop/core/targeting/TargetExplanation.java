package dev.onehop.core.targeting;

import dev.onehop.core.table.Chunk;
import dev.onehop.core.table.ChunkVersion;
import java.util.List;
import org.bson.BsonDocument;
import org.jspecify.annotations.Nullable;

/**
 * Where an operation goes and why, for people.
 *
 * @param namespace the collection
 * @param shardKey its shard key pattern; null if it is unsharded
 * @param version the routing table's version; null if it is unsharded
 * @param totalChunks how many chunks the collection has; 0 if it is unsharded
 * @param chunks the first of the chunks that the operation can touch, in key order, at most as many
 *     as asked for; empty if it is unsharded
 * @param touchedChunks how many it can touch
 * @param shards the shards it goes to
 * @param broadcast whether that is because nothing bounds the shard key
 * @param reason what decided, in words
 */
public record TargetExplanation(
    String namespace,
    @Nullable BsonDocument shardKey,
    @Nullable ChunkVersion version,
    int totalChunks,
    List<Chunk> chunks,
    int touchedChunks,
    List<String> shards,
    boolean broadcast,
    String reason) {}
