package dev.onehop.core.table;

import org.bson.BsonTimestamp;
import org.bson.types.ObjectId;
import org.jspecify.annotations.Nullable;

/**
 * The placement version of a chunk, a shard or a collection: {@code major} moves with each
 * migration, {@code minor} with each split or merge. Versions order by major, then minor; only
 * those of one incarnation of a collection (epoch and timestamp) can be compared in earnest.
 *
 * @param epoch the collection's incarnation
 * @param timestamp the same since 5.0; null before
 * @param major unsigned
 * @param minor unsigned
 */
public record ChunkVersion(ObjectId epoch, @Nullable BsonTimestamp timestamp, int major, int minor)
    implements Comparable<ChunkVersion> {

  /** Major and minor as the config database and the wire have them. */
  public BsonTimestamp toTimestamp() {
    return new BsonTimestamp(major, minor);
  }

  @Override
  public int compareTo(ChunkVersion other) {
    int byMajor = Integer.compareUnsigned(major, other.major);
    return byMajor != 0 ? byMajor : Integer.compareUnsigned(minor, other.minor);
  }

  @Override
  public String toString() {
    return Integer.toUnsignedString(major) + "|" + Integer.toUnsignedString(minor);
  }
}
