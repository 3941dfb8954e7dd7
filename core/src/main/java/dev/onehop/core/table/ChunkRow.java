package dev.onehop.core.table;

import java.util.Comparator;
import org.bson.BsonDocument;
import org.jspecify.annotations.Nullable;

/**
 * One chunk on its way into a {@link ChunkMap}.
 *
 * @param min its least key
 * @param max the least key above it
 * @param shard its owner, as an index into the table's shard names
 * @param version major in the upper, minor in the lower half
 * @param verbatimMin the lower bound as it was read, if decoding {@code min} gives another
 */
@SuppressWarnings("ArrayRecordComponent") // never compared as a whole, and short-lived
record ChunkRow(
    byte[] min, byte[] max, int shard, long version, @Nullable BsonDocument verbatimMin) {
  static final Comparator<ChunkRow> OLDEST_FIRST =
      (a, b) -> Long.compareUnsigned(a.version(), b.version());
}
