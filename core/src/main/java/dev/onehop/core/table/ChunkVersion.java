package dev.onehop.core.table;

import org.bson.BsonTimestamp;
import org.bson.types.ObjectId;
import org.jspecify.annotations.Nullable;

/**
 * The placement version of a chunk, a shard or a collection: {@code major} grows with each
 * migration, {@code minor} with each split or merge. Versions are ordered by major, then minor.
 * Only versions of the same incarnation of a collection (epoch and timestamp) are comparable. A
 * collection that is dropped and created again, or resharded, has a new incarnation.
 *
 * @param epoch the collection's incarnation
 * @param timestamp the second id of this incarnation, which exists from MongoDB 5.0 on; null before
 * @param major the major version, unsigned
 * @param minor the minor version, unsigned
 */
public record ChunkVersion(ObjectId epoch, @Nullable BsonTimestamp timestamp, int major, int minor)
    implements Comparable<ChunkVersion> {

  /** Major and minor version in the format of the config database and of commands. */
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
