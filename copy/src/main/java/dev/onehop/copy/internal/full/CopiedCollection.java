package dev.onehop.copy.internal.full;

import dev.onehop.copy.internal.structure.CollectionSpec;
import org.bson.BsonDocument;
import org.bson.BsonObjectId;
import org.jspecify.annotations.Nullable;

/**
 * A collection of a job.
 *
 * @param number in the job
 * @param spec as it was at the start
 * @param key the key of its ranges: the shard key, {@code _id}, or the key of a chosen index
 * @param index {@code name} and {@code key} of the index that reads use, whose key begins with the
 *     key of the ranges; null for the order of storage
 * @param documents an estimate of how many it has
 * @param division the id of its ranges; null if it has none yet
 */
public record CopiedCollection(
    int number,
    CollectionSpec spec,
    BsonDocument key,
    @Nullable BsonDocument index,
    long documents,
    @Nullable BsonObjectId division) {
  CopiedCollection planned(BsonDocument newKey, @Nullable BsonDocument newIndex, long estimate) {
    return new CopiedCollection(number, spec, newKey, newIndex, estimate, null);
  }
}
