package dev.onehop.copy.internal.full;

import dev.onehop.copy.internal.structure.CollectionSpec;
import org.bson.BsonDocument;
import org.bson.BsonObjectId;
import org.jspecify.annotations.Nullable;

/**
 * A collection as the job knows it.
 *
 * @param number in the job
 * @param spec as it was at the start
 * @param key by whose ranges it is read: the shard key, or {@code _id}
 * @param index {@code name} and {@code key} of the index with which it is read, whose key begins
 *     with that of the ranges; null for the order in which the documents are stored
 * @param documents an estimate of how many it has
 * @param division the id of its ranges; null if they are not known yet
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
