package dev.onehop.copy.internal.full;

import dev.onehop.copy.internal.structure.CollectionSpec;
import org.bson.BsonDocument;
import org.bson.BsonObjectId;
import org.jspecify.annotations.Nullable;

/**
 * A collection of a job.
 *
 * @param number the number of the collection in the job, from 0
 * @param spec the description of the collection at the start of the job
 * @param key the key of the collection's ranges: the shard key, {@code _id}, or the key of a chosen
 *     index
 * @param index a document about the index that reads use. It has the {@code key} of the index,
 *     which begins with the key of the ranges, and the {@code name}. For the index of {@code _id}
 *     the {@code name} is left out. Null if documents are read in the order of storage
 * @param documents an estimate of the number of documents
 * @param division the id of the division into ranges; null if the collection is not divided yet
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
