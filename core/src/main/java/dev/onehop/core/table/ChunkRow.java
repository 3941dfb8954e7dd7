package dev.onehop.core.table;

import java.util.Comparator;
import org.bson.BsonDocument;
import org.jspecify.annotations.Nullable;

/**
 * A chunk to add to a {@link ChunkMap}.
 *
 * @param min the lower bound, inclusive
 * @param max the upper bound, exclusive
 * @param shard the owner, as an index into the table's shard names
 * @param version the version: major in the upper half, minor in the lower half
 * @param verbatimMin the original lower bound, if decoding {@code min} results in another bound;
 *     otherwise null
 */
@SuppressWarnings("ArrayRecordComponent") // these records are never compared with equals
record ChunkRow(
    byte[] min, byte[] max, int shard, long version, @Nullable BsonDocument verbatimMin) {
  static final Comparator<ChunkRow> OLDEST_FIRST =
      (a, b) -> Long.compareUnsigned(a.version(), b.version());
}
