package dev.onehop.core.table;

import java.util.List;
import org.bson.BsonDocument;
import org.jspecify.annotations.Nullable;

/**
 * Some neighbouring chunks in packed form; each chunk ends at the start of the next one. Immutable.
 */
final class ChunkBucket {
  private final SortedKeys mins;
  private final char[] shards;
  private final long[] versions;

  /** The original lower bounds by index; null if every key decodes to its original bound. */
  private final @Nullable BsonDocument @Nullable [] verbatimMins;

  private ChunkBucket(
      SortedKeys mins,
      char[] shards,
      long[] versions,
      @Nullable BsonDocument @Nullable [] verbatimMins) {
    this.mins = mins;
    this.shards = shards;
    this.versions = versions;
    this.verbatimMins = verbatimMins;
  }

  static ChunkBucket of(List<ChunkRow> rows) {
    int size = rows.size();
    char[] shards = new char[size];
    long[] versions = new long[size];
    BsonDocument[] verbatim = null;
    for (int i = 0; i < size; i++) {
      ChunkRow row = rows.get(i);
      shards[i] = (char) row.shard();
      versions[i] = row.version();
      if (row.verbatimMin() != null) {
        verbatim = verbatim == null ? new BsonDocument[size] : verbatim;
        verbatim[i] = row.verbatimMin();
      }
    }
    SortedKeys mins = SortedKeys.of(rows.stream().map(ChunkRow::min).toList());
    return new ChunkBucket(mins, shards, versions, verbatim);
  }

  int size() {
    return shards.length;
  }

  SortedKeys mins() {
    return mins;
  }

  int shard(int index) {
    return shards[index];
  }

  long version(int index) {
    return versions[index];
  }

  @Nullable BsonDocument verbatimMin(int index) {
    return verbatimMins == null ? null : verbatimMins[index];
  }

  /** A chunk of this bucket as a row; {@code end} is the upper bound of the bucket's last chunk. */
  ChunkRow row(int index, byte[] end) {
    byte[] max = index + 1 < size() ? mins.get(index + 1) : end;
    return new ChunkRow(mins.get(index), max, shard(index), version(index), verbatimMin(index));
  }
}
