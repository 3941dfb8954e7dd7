package dev.onehop.core.targeting;

import dev.onehop.core.table.Chunk;
import dev.onehop.core.table.ChunkVersion;
import java.util.List;
import org.bson.BsonDocument;
import org.jspecify.annotations.Nullable;

/**
 * The target of an operation and the reason for this target, for display.
 *
 * @param namespace the collection
 * @param shardKey the collection's shard key pattern; null if the collection is unsharded
 * @param version the routing table's version; null if the collection is unsharded
 * @param totalChunks the number of the collection's chunks; 0 if the collection is unsharded
 * @param chunks the first chunks that the operation can touch, in key order, up to the requested
 *     number; empty if the collection is unsharded
 * @param touchedChunks the number of chunks that the operation can touch
 * @param shards the shards that the operation goes to
 * @param broadcast whether the operation goes to all chunks because nothing bounds the shard key
 * @param reason the reason of the decision, in words
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
